// How soon deaths are noticed and how soon a range steps again: a real crew whose worker is killed, or whose env hangs, again and again. Every
// figure is the 99th percentile by nearest rank, which for these numbers of deaths is the worst one.
import { quantile } from '../../chaos/quantile.js';
import type { Plan } from '../../contract/plan.js';
import type { CrewEvent } from '../../supervisor/crew.js';
import type { RowName } from '../bars.js';
import { type Bench, type BenchContext, type Row, skippedRow } from '../bench.js';
import { type BenchCrew, raiseBenchCrew } from '../crew-rig.js';
import { createRigPlan, type RigKind } from '../rig-plan.js';

const KILLS = 30;
const HANGS = 12;
const HANG_DEADLINE_S = 0.5;
/** Far beyond any recovery that works. */
const LIMIT_MS = 30_000;

/** Budgets out of the way, and no back-off: what is measured is the way back, not the wait before it. */
const FREE = { restarts: 100_000, perSeconds: 86_400 } as const;

function withHealth(plan: Plan, stepSeconds: number): Plan {
  const backoff = { baseSeconds: 0.001, maxSeconds: 0.001 };
  const budgets = { workerBudget: FREE, runBudget: FREE, crashBudget: FREE, envBudget: FREE };
  return { ...plan, stepDeadlineSeconds: stepSeconds, health: { ...plan.health, ...budgets, backoff } };
}

interface Deaths {
  readonly rig: BenchCrew;
  readonly events: readonly CrewEvent[];
}

async function raise(envs: number, kind: RigKind, stepSeconds: number): Promise<Deaths> {
  const events: CrewEvent[] = [];
  const { plan, entries } = await createRigPlan(envs, kind, 'random');
  const deadlines = { construct: 30, reset: stepSeconds, step: stepSeconds, close: stepSeconds };
  const rig = await raiseBenchCrew(
    { plan: withHealth(plan, stepSeconds), entries: entries.map((entry) => ({ ...entry, deadlines })) },
    20,
    (event) => events.push(event),
  );
  return { rig, events };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`${what} did not happen within ${LIMIT_MS / 1000} s`);
    await new Promise((later) => setTimeout(later, 2));
  }
}

function row(name: RowName, values: readonly number[], note: string): Row {
  const at = (share: number): number => quantile(values, share) ?? Number.NaN;
  return {
    name,
    estimate: { value: at(0.99), low: at(0), high: at(1), runs: values.length },
    foreignCores: null,
    note: `${note}; p99 of ${values.length}, median ${at(0.5).toPrecision(3)}`,
  };
}

/** Kills the worker and waits until every env has a frame of its next life. */
async function killed({ rig, events }: Deaths): Promise<{ readonly noticedMs: number; readonly allS: number; readonly firstS: number }> {
  const recovered = events.filter(({ type }) => type === 'worker-recovered').length;
  const pid = rig.crew.health().workers[0]?.pid;
  if (pid === null || pid === undefined) throw new Error('the worker has no process');
  const beganMs = performance.now();
  process.kill(pid, 'SIGKILL');
  await until('the death', () => rig.crew.health().workers[0]?.pid !== pid);
  const noticedMs = performance.now() - beganMs;
  // Nobody publishes between the death and the next life's first frames.
  const before = Float64Array.from(rig.crew.envFrames());
  await until('the recovery', () => events.filter(({ type }) => type === 'worker-recovered').length > recovered);
  const event = events.findLast(({ type }) => type === 'worker-recovered');
  await until('the frame of the last env', () => rig.crew.envFrames().every((frames, env) => frames > (before[env] as number)));
  return { noticedMs, firstS: Number(event?.detail?.recover_ms) / 1000, allS: (performance.now() - beganMs) / 1000 };
}

async function killRows(context: BenchContext): Promise<Row[]> {
  const kills = context.quick ? 2 : KILLS;
  const slow = await raise(8, { kind: 'noop', config: { constructMs: 100 } }, 10);
  const noticed: number[] = [];
  const first: number[] = [];
  try {
    for (let i = 0; i < kills; i++) {
      const one = await killed(slow);
      noticed.push(one.noticedMs);
      first.push(one.firstS);
    }
  } finally {
    await slow.rig.stop();
  }
  const many = await raise(1000, { kind: 'cartpole' }, 10);
  const all: number[] = [];
  try {
    for (let i = 0; i < kills; i++) all.push((await killed(many)).allS);
  } finally {
    await many.rig.stop();
  }
  return [
    row('death_noticed_ms', noticed, 'SIGKILL to the supervisor knowing it from the kernel'),
    row('recovery_100ms_s', first, 'death known to the first valid frame of the next life; constructors burn 100 ms'),
    row('recovery_1000_envs_s', all, 'SIGKILL to a frame of every one of 1,000 cartpole envs'),
  ];
}

/** One env spins in each life; how far beyond its deadline that was noticed. */
async function hangRow(context: BenchContext): Promise<Row> {
  const hangs = context.quick ? 1 : HANGS;
  const spin = { fault: 'spin', atStep: 20, envIds: [3] };
  const { rig, events } = await raise(16, { kind: 'fault', config: { kind: 'cartpole', schedule: [spin] } }, HANG_DEADLINE_S);
  const deaths = (): CrewEvent[] => events.filter(({ type, detail }) => type === 'worker-died' && detail?.cause === 'deadline');
  try {
    await until(`the ${hangs}th hang`, () => deaths().length >= hangs);
  } finally {
    await rig.stop();
  }
  const late = deaths()
    .slice(0, hangs)
    .map(({ detail }) => Number(detail?.detect_ms) - HANG_DEADLINE_S * 1000);
  if (late.some(Number.isNaN)) return skippedRow('hang_noticed_late_ms', 'a death came without its time');
  return row('hang_noticed_late_ms', late, `a step that spins, found so long after its deadline of ${HANG_DEADLINE_S} s`);
}

/** death_noticed_ms, recovery_100ms_s, recovery_1000_envs_s, hang_noticed_late_ms. */
export const recoveryBench: Bench = {
  suite: 'process',
  rows: ['death_noticed_ms', 'recovery_100ms_s', 'recovery_1000_envs_s', 'hang_noticed_late_ms'],
  run: async (context) => [...(await killRows(context)), await hangRow(context)],
};
