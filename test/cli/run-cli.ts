// Runs the envladder command as a user does: a process with a mark in its environment, which everything it starts inherits, so that it
// can be found afterwards whatever its parent or session. Uses dist/ when it is newer than every source file (npm test builds it), else the sources through tsx, which start slower.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';

export const ROOT = resolve(import.meta.dirname, '..', '..');
const DIST = join(ROOT, 'dist', 'harness', 'cli', 'main.js');
const WATCHDOG_MS = 120_000;

function newest(folder: string): number {
  let time = 0;
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    if (item.name === 'build' || item.name === 'node_modules') continue;
    const path = join(folder, item.name);
    time = Math.max(time, item.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return time;
}

const distIsFresh =
  existsSync(DIST) && ['harness', 'reports', 'native'].every((folder) => newest(join(ROOT, folder)) <= statSync(DIST).mtimeMs);

/** Words that start the command. */
export const COMMAND: readonly string[] = distIsFresh
  ? [process.execPath, DIST]
  : [process.execPath, '--import', import.meta.resolve('tsx'), join(ROOT, 'harness', 'cli', 'main.ts')];

export interface Result {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Stands in the environment of the command and of everything it started. */
  readonly mark: string;
  readonly ended: Promise<Result>;
  /** Waits until `seen` is true; polls, because what is waited for is another process's doing. Ends when the command does. */
  until(what: string, seen: () => boolean): Promise<void>;
  stderrSoFar(): string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Shell words before the command, as in `ulimit -n 256`. */
  readonly shell?: string;
  readonly env?: NodeJS.ProcessEnv;
}

let started = 0;

export function startCli(args: readonly string[], options: RunOptions = {}): Running {
  const words = options.shell === undefined ? COMMAND : ['/bin/bash', '-c', `${options.shell}; exec "$@"`, 'bash', ...COMMAND];
  const mark = `ENVLADDER_TEST_MARK=${process.pid}-${++started}-${Date.now()}`;
  const child = spawn(words[0] ?? '', [...words.slice(1), ...args], {
    cwd: options.cwd ?? ROOT,
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '', ENVLADDER_TEST_MARK: mark.slice(mark.indexOf('=') + 1), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const watchdog = setTimeout(() => {
    for (const each of markedPids(mark)) process.kill(each, 'SIGKILL');
  }, WATCHDOG_MS);
  let over = false;
  const ended = new Promise<Result>((done) => {
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      over = true;
      done({ code, signal, stdout, stderr });
    });
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error('the command did not start');
  return {
    child,
    pid,
    mark,
    ended,
    stderrSoFar: () => stderr,
    async until(what, seen) {
      for (;;) {
        if (seen()) return;
        if (over) throw new Error(`the command ended before ${what}:\n${stderr}`);
        await pause(20);
      }
    },
  };
}

export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  return startCli(args, options).ended;
}

/** Pids that carry the mark and are alive (zombies waiting for their parent have no environment any more). */
export function markedPids(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readText(`/proc/${pid}/environ`).split('\0').includes(mark));
}

/** Empty for a process that is gone. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Pid of the command's child whose command line names `role`. */
export function childPid(running: Running, role: 'worker' | 'learner'): number {
  const pid = markedPids(running.mark).find((each) => readText(`/proc/${each}/cmdline`).includes(`/${role}/entry`));
  if (pid === undefined) throw new Error(`no ${role} runs`);
  return pid;
}

export interface EventRow {
  readonly type: string;
  readonly worker: number | null;
  readonly env_id: number | null;
  readonly message: string;
}

/** Rows of a run's events.sqlite. */
export function eventsOf(dir: string): EventRow[] {
  const database = new Database(join(dir, 'events.sqlite'), { readonly: true });
  try {
    return database.prepare('SELECT type, worker, env_id, message FROM events ORDER BY id').all() as EventRow[];
  } finally {
    database.close();
  }
}
