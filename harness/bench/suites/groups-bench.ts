// What starting in groups costs and what waking a group takes: all envs at once against ten groups in turn, and the way from the wake to the
// first frame for each kind of dormant group. Each run has processes of its own.
import { readPssBytes } from '../../supervisor/role-memory.js';
import { type Bench, type BenchContext, countedRow, type Row, skippedRow } from '../bench.js';
import { raiseBenchCrew } from '../crew-rig.js';
import { raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { createRigPlan } from '../rig-plan.js';
import { HOLDS, type HoldName, wakeOf } from '../wake-rig.js';
import { rowFrom, takeWindows } from '../windows.js';

/** Ten groups: of the account's size, or a tenth of it where each constructor burns 100 ms of one core. */
const GROUPS = 10;
const SIZE_BY_CONSTRUCT_MS = { 1: 70, 100: 7 } as const;
const SIZE = SIZE_BY_CONSTRUCT_MS[1];
const START_RUNS = 3;
const WAKE_RUNS = 15;

/** Seconds from the tier's start to the last env's first frame; constructors in work at once as in any plan. */
async function startRow(context: BenchContext, start: 'parallel' | 'groups', constructMs: 1 | 100): Promise<Row> {
  const name = `group_start_${start}_${constructMs}ms_s` as const;
  const size = SIZE_BY_CONSTRUCT_MS[constructMs];
  const envs = GROUPS * size;
  const windows = await takeWindows(context, { windows: context.quick ? 1 : START_RUNS, label: name }, async () => {
    const rig = await createRigPlan(envs, { kind: 'noop', config: { constructMs: context.quick ? constructMs / 10 : constructMs } });
    const groups = { start, size, wakeSteps: 1, dormant: 'not-started' } as const;
    const crew = await raiseBenchCrew({ ...rig, plan: { ...rig.plan, groups } });
    await crew.stop();
    return { seconds: crew.tier.timeToAllLiveS ?? 0 };
  });
  return rowFrom(
    name,
    windows,
    ({ seconds }) => seconds,
    `${envs} envs of one worker, constructors of ${constructMs} ms, ${start === 'groups' ? `${GROUPS} groups, each woken at one frame of the one before` : 'all at once'}`,
  );
}

/** A group that is not there has to be built first: from the grant of its block to its first frame, as the run's own event says it. */
async function coldRow(context: BenchContext): Promise<Row> {
  const windows = await takeWindows(context, { windows: context.quick ? 1 : START_RUNS, label: 'group_wake_not_started_ms' }, async () => {
    const rig = await createRigPlan(2 * SIZE, { kind: 'noop', config: { constructMs: 1 } });
    const groups = { start: 'groups', size: SIZE, wakeSeconds: 0.3, dormant: 'not-started' } as const;
    const woken: number[] = [];
    const crew = await raiseBenchCrew({ ...rig, plan: { ...rig.plan, groups } }, 20, ({ type, detail }) => {
      if (type === 'group-woken') woken.push(Number(detail?.latencyMs));
    });
    await crew.stop();
    return { ms: woken[1] ?? Number.NaN };
  });
  return rowFrom('group_wake_not_started_ms', windows, ({ ms }) => ms, `${SIZE} constructors of 1 ms; looked at every 5 ms`);
}

/** A process that stands still: from the call that lets it go to its first frame. */
async function heldRow(context: BenchContext, how: HoldName): Promise<Row> {
  const name = `group_wake_${how}_ms` as const;
  const problem = HOLDS[how].problem();
  if (problem !== null) return skippedRow(name, problem);
  const rig = await raiseEnvRig({ kind: 'noop', envs: SIZE, outputs: floatOutput('vector') });
  try {
    const windows = await takeWindows(context, { windows: context.quick ? 2 : WAKE_RUNS, label: name }, () =>
      wakeOf(rig, SIZE, HOLDS[how]),
    );
    return rowFrom(name, windows, ({ ms }) => ms, `a built group of ${SIZE}; ${HOLDS[how].note}`);
  } finally {
    await rig.close();
  }
}

/** What a built group keeps while it sleeps: a process of its own. */
async function memoryRow(): Promise<Row> {
  const rig = await raiseEnvRig({ kind: 'noop', envs: SIZE, outputs: floatOutput('vector') });
  try {
    rig.consume(200);
    return countedRow(
      'group_dormant_pss_mb',
      readPssBytes(rig.workerPid) / 1e6,
      `PSS of the process of one built group of ${SIZE} noop envs; a group that is not started keeps none`,
    );
  } finally {
    await rig.close();
  }
}

/** group_start_*, group_wake_* and group_dormant_pss_mb. */
export const groupsBench: Bench = {
  suite: 'process',
  rows: [
    'group_start_parallel_1ms_s',
    'group_start_groups_1ms_s',
    'group_start_parallel_100ms_s',
    'group_start_groups_100ms_s',
    'group_wake_not_started_ms',
    'group_wake_frozen_ms',
    'group_wake_stopped_ms',
    'group_wake_throttled_ms',
    'group_dormant_pss_mb',
  ],
  run: async (context) => [
    await startRow(context, 'parallel', 1),
    await startRow(context, 'groups', 1),
    await startRow(context, 'parallel', 100),
    await startRow(context, 'groups', 100),
    await coldRow(context),
    await heldRow(context, 'frozen'),
    await heldRow(context, 'stopped'),
    await heldRow(context, 'throttled'),
    await memoryRow(),
  ],
};
