// Rows 18, 19 and 51: a learner that is killed, one that is stopped for a while, and an update that makes no sense.
import { readFileSync } from 'node:fs';
import type { PlanInput } from '../../contract/plan.js';
import { monotonicMs } from '../../supervisor/clock.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import type { Rig } from '../rig.js';
import { triggerOf, triggerRig } from '../trigger-rig.js';
import { watchFor } from '../until.js';

const LEARNING: Partial<PlanInput> = {
  learner: 'ppo',
  backend: 'wasm',
  ppo: { horizon: 8, epochs: 1, minibatch: 256, checkpointSeconds: 1, batch: 65_536 },
};

const NO_ANSWERS = 'without answers no env steps: that is no fault of the workers';

/** Every env made a frame since `seq`. */
function allStepped(rig: Rig, seq: Float64Array): boolean {
  const words = rig.sampler.look();
  return seq.every((before, env) => words.retired[env] === 1 || (words.seq[env] as number) > before);
}

export const learnerKilled: CrewChaosRow = crewRow({
  row: 18,
  fault: 'learner killed',
  outcome: 'resumes from the newest checkpoint, the workers wait, the sums balance',
  recoverLimitMs: 60_000,
  rig: { plan: LEARNING },
  async inject(rig) {
    if (!(await rig.wait(30_000, () => rig.events.some(({ type }) => type === 'checkpoint'))))
      throw new Error('no checkpoint was written within 30 s');
    const atMs = monotonicMs();
    process.kill(rig.pid('learner'), 'SIGKILL');
    let from: Float64Array | null = null;
    const restarted = () => rig.eventsSince(atMs, 'learner-restarted')[0];
    return {
      atMs,
      touched: rig.plan.tiers.flatMap(({ envs }) => Array.from({ length: envs }, (_, env) => env)),
      noRates: NO_ANSWERS,
      detected: () => rig.eventsSince(atMs, 'learner-died')[0]?.ms ?? null,
      recovered: () => {
        if (restarted() === undefined) return null;
        from ??= rig.sampler.look().seq.slice();
        return allStepped(rig, from) ? monotonicMs() : null;
      },
      undo: () => {
        const problems: string[] = [];
        if (rig.events.some(({ type }) => type === 'worker-died')) problems.push('a worker died with it');
        if (restarted()?.detail?.resumedFrom == null) problems.push('it did not resume from a checkpoint');
        return problems;
      },
      expect: [{ type: 'learner-died', cause: /SIGKILL/ }, { type: 'learner-restarted' }],
    };
  },
  verify: (_, __, end) =>
    (end.snapshot?.dropped['learner-died'] ?? 0) > 0 ? [] : ['no frame was dropped as learner-died: what became of those it held?'],
});

const FROZEN_MS = 3000;
/** Memory of a process that only waits may not grow by more than this. */
const MOST_GROWTH_BYTES = 32 * 2 ** 20;

export function rssBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export const learnerFrozen: CrewChaosRow = crewRow({
  row: 19,
  fault: 'learner frozen (SIGSTOP), then woken',
  outcome: 'the workers wait, nothing is dropped and nothing grows',
  recoverLimitMs: 5000,
  async inject(rig) {
    const pid = rig.pid('learner');
    const watched = [process.pid, ...[...rig.segments.keys()].map((worker) => rig.pid(`worker ${worker}`))];
    process.kill(pid, 'SIGSTOP');
    await watchFor(200);
    const before = rig.sampler.look().seq.slice();
    const rssBefore = watched.map(rssBytes);
    await watchFor(FROZEN_MS);
    const during = rig.sampler.look().seq.slice();
    const grown = watched.map((one, i) => rssBytes(one) - (rssBefore[i] as number));
    const ahead = during.reduce((most, seq, env) => Math.max(most, seq - (before[env] as number)), 0);
    const atMs = monotonicMs();
    process.kill(pid, 'SIGCONT');
    const problems: string[] = [];
    if (ahead > 1) problems.push(`an env went ${ahead} frames ahead of a learner that stood still`);
    if (Math.max(...grown) > MOST_GROWTH_BYTES) problems.push(`a process grew by ${Math.max(...grown)} bytes meanwhile`);
    return {
      atMs,
      touched: Array.from(before.keys()),
      noRates: NO_ANSWERS,
      recovered: () => (allStepped(rig, during) ? monotonicMs() : null),
      undo: () => (rig.pid('learner') === pid ? problems : [...problems, 'it was replaced']),
    };
  },
});

export const badUpdate: CrewChaosRow = crewRow({
  row: 51,
  fault: 'a reward that turns the loss into NaN',
  outcome: 'the update is rolled back and its transitions dropped, the next ones train',
  recoverLimitMs: 30_000,
  rig: triggerRig(LEARNING),
  async inject(rig) {
    const updates = (): number => rig.stats.at(-1)?.updates ?? 0;
    if (!(await rig.wait(30_000, () => updates() > 0))) throw new Error('the learner made no update within 30 s');
    const [env = 0] = rig.envsOf(0);
    const atMs = monotonicMs();
    triggerOf(rig).pull(env, 'huge-reward');
    const told = () => rig.eventsSince(atMs, 'warning').find(({ message }) => message.includes('bad-update'));
    let updatesThen: number | null = null;
    return {
      atMs,
      touched: [],
      noRates: 'updates take turns with answers',
      detected: () => told()?.ms ?? null,
      recovered: () => {
        if (told() === undefined) return null;
        updatesThen ??= updates();
        return updates() > updatesThen ? monotonicMs() : null;
      },
      expect: [{ type: 'warning', cause: /bad-update/ }],
    };
  },
  verify: (_, __, end) => {
    const dropped = end.snapshot?.dropped['bad-update'] ?? 0;
    const losses = Object.entries(end.snapshot?.losses ?? {}).filter(([, values]) =>
      Object.values(values).some((value) => !Number.isFinite(value)),
    );
    return [...(dropped > 0 ? [] : ['nothing was dropped as bad-update']), ...losses.map(([name]) => `losses of ${name} are not finite`)];
  },
});
