// Rows 30, 31 and 32: peers of the control socket that die in the middle of a command, that ask and never read, and a socket file that
// somebody removed. The bus of this version is that socket (and Node's IPC, whose peers die in rows 1 and 18).
import { existsSync, rmSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { CTL_SOCKET_NAME, type CtlAnswer, type CtlCommand } from '../../contract/ctl.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow, RowContext, RowOutcome } from '../chaos-row.js';
import { type ChildLadder, startLadder } from '../child-ladder.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { until, watchFor } from '../until.js';
import { rssBytes } from './learner-faults.js';

/** A unix path holds 107 bytes; the folder of a row is short enough. */
const socketOf = (ladder: ChildLadder): string => join(ladder.dir, CTL_SOCKET_NAME);

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
    // Later errors (the peer hangs up) are what these rows are about.
    socket.on('error', () => undefined);
  });
}

/** One command and its answer; rejects when none comes within five seconds. */
async function ask(path: string, command: CtlCommand): Promise<CtlAnswer> {
  const socket = await connect(path);
  try {
    socket.write(`${JSON.stringify(command)}\n`);
    let text = '';
    const line = new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer within 5 s')), 5000);
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        if (!text.includes('\n')) return;
        clearTimeout(timer);
        resolve(text.slice(0, text.indexOf('\n')));
      });
      socket.once('close', () => {
        clearTimeout(timer);
        reject(new Error('hung up without an answer'));
      });
    });
    return JSON.parse(await line) as CtlAnswer;
  } finally {
    socket.destroy();
  }
}

const status = (id: string): CtlCommand => ({ id, command: 'status' });

/** A ladder with its socket up, what the row does to it, and the judgement every such row gets. */
async function withSocket(
  context: RowContext,
  act: (ladder: ChildLadder, problems: string[]) => Promise<Pick<RowOutcome, 'detectMs' | 'recoverMs'>>,
): Promise<RowOutcome> {
  const before = lookAround();
  const ladder = startLadder(context);
  if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
  if (!existsSync(socketOf(ladder))) throw new Error(`the run has no ${CTL_SOCKET_NAME}`);
  const problems: string[] = [];
  const times = await act(ladder, problems);
  const lines = ladder.metricsLines();
  if (!(await until(() => ladder.metricsLines() >= lines + 2, 15_000 * context.patience))) problems.push('no metrics come any more');
  if (ladder.ended !== null) problems.push('the run ended');
  const bad = ladder.events().filter(({ type }) => /died|failed|suspect/.test(type));
  if (bad.length > 0) problems.push(`${bad[0]?.type}: ${bad[0]?.message}`);
  const acknowledged = ladder.events();
  ladder.kill('SIGTERM');
  await ladder.exit;
  return { ...times, problems, findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience) };
}

const DYING_PEERS = 50;

export const peerDies: ChaosRow = ladderRow({
  row: 30,
  fault: 'peers of the control socket die in the middle of a command',
  outcome: 'the half command is not obeyed; the next peer is answered',
  recoverLimitMs: 5000,
  act: (context) =>
    withSocket(context, async (ladder, problems) => {
      const half = JSON.stringify({ id: 'half', command: 'replace-worker', worker: 0 });
      const atMs = monotonicMs();
      for (let n = 0; n < DYING_PEERS; n++) {
        const socket = await connect(socketOf(ladder)).catch(() => null);
        if (socket === null) continue;
        // Cut anywhere, also after the last brace: only the line's end makes it a command.
        const part = half.slice(0, 1 + (n % half.length));
        await new Promise<void>((done) => socket.write(part, () => done()));
        socket.destroy();
      }
      let answer: CtlAnswer | null = null;
      await until(async () => {
        answer = await ask(socketOf(ladder), status('after')).catch(() => null);
        return answer !== null;
      }, 10_000 * context.patience);
      if (answer === null) problems.push('nobody is answered any more');
      if (ladder.events().some(({ type }) => type === 'worker-replaced')) problems.push('half a command was obeyed');
      return { detectMs: null, recoverMs: monotonicMs() - atMs };
    }),
});

const UNREAD_COMMANDS = 20_000;
const MOST_GROWTH_BYTES = 64 * 2 ** 20;

export const peerNeverReads: ChaosRow = ladderRow({
  row: 31,
  fault: 'a peer of the control socket asks and never reads',
  outcome: 'its answers do not pile up; others are answered meanwhile',
  recoverLimitMs: 5000,
  act: (context) =>
    withSocket(context, async (ladder, problems) => {
      const before = rssBytes(ladder.pid);
      const socket = await connect(socketOf(ladder));
      socket.pause();
      const atMs = monotonicMs();
      for (let n = 0; n < UNREAD_COMMANDS && !socket.destroyed; n++) socket.write(`${JSON.stringify(status(`unread ${n}`))}\n`);
      await watchFor(1500);
      const askedMs = monotonicMs();
      const answer = await ask(socketOf(ladder), status('beside')).catch((error: Error) => error);
      if (answer instanceof Error) problems.push(`a second peer gets no answer: ${answer.message}`);
      const answeredMs = monotonicMs() - askedMs;
      const grown = rssBytes(ladder.pid) - before;
      if (grown > MOST_GROWTH_BYTES) problems.push(`the supervisor grew by ${grown} bytes`);
      socket.destroy();
      return { detectMs: askedMs - atMs, recoverMs: answeredMs };
    }),
});

export const socketRemoved: ChaosRow = ladderRow({
  row: 32,
  fault: 'the control socket file is removed',
  outcome: 'noticed and bound anew',
  recoverLimitMs: 10_000,
  act: (context) =>
    withSocket(context, async (ladder, problems) => {
      const atMs = monotonicMs();
      rmSync(socketOf(ladder));
      const there = await until(() => existsSync(socketOf(ladder)), 20_000 * context.patience);
      const recoverMs = there ? monotonicMs() - atMs : null;
      const answer = await ask(socketOf(ladder), status('again')).catch((error: Error) => error);
      if (answer instanceof Error) problems.push(`it does not answer: ${answer.message}`);
      return { detectMs: recoverMs, recoverMs };
    }),
});
