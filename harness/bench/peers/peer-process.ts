// One driver process (a peer's, in Python; envladder's own, in Node) and everything it starts: orders in, answers out, stopped with SIGSTOP
// while another is measured, and at the end no process of it is left, whatever it did. Every wait has a bound.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cpuSecondsOf, MARK_VARIABLE, markedPids, pssOf, signalAll } from './marked-processes.js';
import { type AnswerOf, type AnswerType, type PeerAnswer, parseAnswer } from './peer-answer.js';

/** A driver that was told to leave gets this long. */
const LEAVE_MS = 5000;
/** Of what a driver wrote to stderr, so much of the end is kept for messages. */
const STDERR_BYTES = 4000;
/** How often a wait looks whether processes are gone. */
const LOOK_MS = 20;

export interface PeerCommand {
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface PeerProcess {
  readonly label: string;
  readonly pid: number;
  order(words: string): void;
  /** The next answer, of whatever type; null when none came within `limitMs`. Rejects when the driver ended or spoke nonsense. */
  next(limitMs: number): Promise<PeerAnswer | null>;
  /** The next answer, which must be of this type. Rejects at the limit too. */
  expect<Type extends AnswerType>(type: Type, limitMs: number): Promise<AnswerOf<Type>>;
  pids(): number[];
  pause(): void;
  resume(): void;
  pssBytes(): number;
  cpuSeconds(): number;
  /** Kills the driver alone and counts who of its processes is still alive after `ms`. */
  killDriver(ms: number): Promise<number>;
  /** Asks it to leave, then kills all that is left. Never rejects. */
  close(): Promise<void>;
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Marks and folders of the drivers that are not closed yet: an exit in the middle of a row leaves none of their processes. */
const open = new Map<string, string>();
process.on('exit', () => {
  for (const [mark, folder] of open) {
    signalAll(markedPids(mark), 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Starts a driver in a folder of its own; what a peer drops there goes with it. */
export function startPeer({ label, command, args }: PeerCommand): PeerProcess {
  const mark = randomUUID();
  const folder = mkdtempSync(join(tmpdir(), 'envladder-peer-'));
  open.set(mark, folder);
  // PYTHONDONTWRITEBYTECODE would make every worker that is spawned compile its imports again.
  const env = { ...process.env, [MARK_VARIABLE]: mark, PYTHONDONTWRITEBYTECODE: '', PYTHONUNBUFFERED: '', PYTHONWARNINGS: 'ignore' };
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const answers: PeerAnswer[] = [];
  let failure: Error | null = null;
  let ended = false;
  let stderr = '';
  let wake: () => void = () => undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake();
  };
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_BYTES);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    // After a line that is no answer, none that follows is believed.
    if (failure !== null) return;
    try {
      answers.push(parseAnswer(line));
      wake();
    } catch (error) {
      answers.length = 0;
      fail(error as Error);
    }
  });
  // A driver that ended first makes the next order fail with EPIPE; its end is the better message.
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => {
    ended = true;
    fail(new Error(`${label}: could not be started: ${error.message}`));
  });
  child.on('exit', (code, signal) => {
    ended = true;
    const said = stderr.trim().split('\n').at(-1) ?? '';
    fail(new Error(`${label}: the driver ended (${signal ?? `exit code ${code}`})${said === '' ? '' : `: ${said.slice(0, 300)}`}`));
  });

  async function next(limitMs: number): Promise<PeerAnswer | null> {
    const end = performance.now() + limitMs;
    for (;;) {
      const answer = answers.shift();
      if (answer !== undefined) return answer;
      if (failure !== null) throw failure;
      const leftMs = end - performance.now();
      if (leftMs <= 0) return null;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  const peer: PeerProcess = {
    label,
    pid: child.pid ?? 0,
    order: (words) => void child.stdin.write(`${words}\n`),
    next,
    async expect<Type extends AnswerType>(type: Type, limitMs: number): Promise<AnswerOf<Type>> {
      const answer = await next(limitMs);
      if (answer === null) throw new Error(`${label}: no '${type}' within ${Math.round(limitMs / 1000)} s`);
      if (answer.type !== type) throw new Error(`${label}: answered '${answer.type}' where '${type}' was due`);
      return answer as AnswerOf<Type>;
    },
    pids: () => markedPids(mark),
    pause: () => signalAll(markedPids(mark), 'SIGSTOP'),
    resume: () => signalAll(markedPids(mark), 'SIGCONT'),
    pssBytes: () => pssOf(markedPids(mark)),
    cpuSeconds: () => cpuSecondsOf(markedPids(mark)),
    async killDriver(ms) {
      signalAll([peer.pid], 'SIGKILL');
      const end = performance.now() + ms;
      while (performance.now() < end && markedPids(mark).length > 0) await later(LOOK_MS);
      return markedPids(mark).length;
    },
    async close() {
      peer.resume();
      child.stdin.end('quit\n');
      const leave = performance.now() + LEAVE_MS;
      while (!ended && performance.now() < leave) await later(LOOK_MS);
      // More may be on their way: until none is left.
      for (let round = 0; round < 100; round++) {
        const left = markedPids(mark);
        if (left.length === 0) break;
        signalAll(left, 'SIGKILL');
        await later(LOOK_MS);
      }
      rmSync(folder, { recursive: true, force: true });
      open.delete(mark);
    },
  };
  return peer;
}
