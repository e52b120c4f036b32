// Rows 49 and 54: signals that mean nothing, and the one that ends a run, sent twice.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { identify, startLadder, stillRunning } from '../child-ladder.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { until, watchFor } from '../until.js';

/** Ports that the given processes listen on, with who does, from /proc. */
function listening(pids: Iterable<number>): string[] {
  const sockets = new Map<string, number>();
  for (const pid of pids) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
        if (inode !== undefined) sockets.set(inode, pid);
      }
    } catch {
      // Gone.
    }
  }
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      // State 0A is LISTEN, field 9 the inode.
      .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] ?? ''))
      .map((fields) => `${Number.parseInt(fields[1]?.split(':')[1] ?? '0', 16)} (process ${sockets.get(fields[9] ?? '')})`),
  );
}

export const straySignals: ChaosRow = ladderRow({
  row: 49,
  fault: 'stray SIGUSR1, SIGPIPE (all) and SIGHUP (children)',
  outcome: 'ignored; no inspector port opens',
  recoverLimitMs: 0,
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context);
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const children = identify(ladder.children());
    const events = ladder.events().length;
    const frames = (): number => ladder.metricsLines();
    const problems: string[] = [];
    for (const signal of ['SIGUSR1', 'SIGPIPE', 'SIGHUP'] as const) {
      for (const pid of [...children.keys(), ...(signal === 'SIGHUP' ? [] : [ladder.pid])]) process.kill(pid, signal);
      await watchFor(300);
      const ports = listening([...children.keys(), ladder.pid]);
      if (ports.length > 0) problems.push(`after ${signal} a process listens on port ${ports.join(', ')}; ${ladder.pid} is the supervisor`);
      if (ladder.ended !== null) problems.push(`${signal} ended the supervisor`);
      const gone = children.size - stillRunning(children).length;
      if (gone > 0) problems.push(`${signal} ended ${gone} children`);
    }
    const lines = frames();
    if (!(await until(() => frames() >= lines + 2, 15_000 * context.patience))) problems.push('no metrics come any more');
    const since = ladder
      .events()
      .slice(events)
      .filter(({ type }) => /died|failed|suspect|interrupted/.test(type));
    if (since.length > 0) problems.push(`${since[0]?.type}: ${since[0]?.message}`);
    const acknowledged = ladder.events();
    ladder.kill('SIGTERM');
    await ladder.exit;
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
    };
  },
});

const TRAINING = { learner: 'ppo', backend: 'wasm', ppo: { horizon: 8, epochs: 1, checkpointSeconds: 600 }, drainSeconds: 20 } as const;

export const stopTwice: ChaosRow = ladderRow({
  row: 54,
  fault: 'SIGTERM once, and twice',
  outcome: 'the first ends with a final checkpoint and nothing left, the second is no slower and as safe',
  recoverLimitMs: 20_000,
  async act(context) {
    const problems: string[] = [];
    const times: number[] = [];
    let findings = {};
    for (const signals of [1, 2]) {
      const before = lookAround();
      const ladder = startLadder(context, { plan: TRAINING });
      if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
      const lines = ladder.metricsLines();
      await until(() => ladder.metricsLines() >= lines + 2, 20_000 * context.patience);
      const acknowledged = ladder.events();
      const atMs = monotonicMs();
      ladder.kill('SIGTERM');
      if (signals === 2) {
        await watchFor(50);
        ladder.kill('SIGTERM');
      }
      const { code } = await ladder.exit;
      times.push(monotonicMs() - atMs);
      if (code !== 130) problems.push(`${signals} x SIGTERM ended with ${code}, not 130`);
      const record = ladder.record();
      if (record?.run.state !== 'interrupted') problems.push(`${signals} x SIGTERM: the record says ${record?.run.state}`);
      if (signals === 1 && (record?.checkpoints.length ?? 0) === 0) problems.push('no final checkpoint');
      const judged = await judgeLadder(before, ladder, acknowledged, 3000 * context.patience);
      const broken = Object.entries(judged).filter(([, finding]) => finding?.ok === false);
      findings = signals === 1 || broken.length > 0 ? judged : findings;
    }
    const [once = 0, twice = 0] = times;
    return {
      detectMs: null,
      recoverMs: Math.max(...times),
      problems,
      findings,
      notes: [`${Math.round(once)} ms after one SIGTERM, ${Math.round(twice)} ms after two`],
    };
  },
});
