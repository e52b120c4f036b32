// What envladder does when one of 8 environments goes bad: the faults of drivers/faults.py, put to a real crew of two workers with 4 envs
// each. Says in one line what was seen, and whether all 8 stepped again.
import type { CrewEvent } from '../../supervisor/crew.js';
import { type BenchCrew, raiseBenchCrew } from '../crew-rig.js';
import { createRigPlan } from '../rig-plan.js';

export const FAULTS = ['kill', 'hang', 'raise'] as const;
export type FaultName = (typeof FAULTS)[number];

const ENVS = 8;
const BAD = 3;
/** What a user would set for an env whose step takes microseconds; gymnasium's own timeout was tried with the same. */
const STEP_DEADLINE_S = 2;
const LIMIT_MS = 30_000;

export interface Observed {
  readonly good: boolean;
  readonly text: string;
}

async function until(holds: () => boolean): Promise<boolean> {
  const end = performance.now() + LIMIT_MS;
  while (!holds()) {
    if (performance.now() > end) return false;
    await new Promise((later) => setTimeout(later, 2));
  }
  return true;
}

const SCHEDULE = {
  kill: null,
  hang: { fault: 'spin', atStep: 50, envIds: [BAD], onlyEpoch: 0 },
  raise: { fault: 'throw', atStep: 50, envIds: [BAD], onlyEpoch: 0, times: 1 },
} as const;

/** The event that says the fault was noticed. */
const NOTICED = { kill: 'worker-died', hang: 'worker-died', raise: 'env-failed' } as const;

async function watch(fault: FaultName, rig: BenchCrew, events: readonly CrewEvent[]): Promise<Observed> {
  const { crew } = rig;
  const holder = crew.health().workers[0]?.pid;
  if (fault === 'kill' && typeof holder === 'number') process.kill(holder, 'SIGKILL');
  const began = performance.now();
  const noticed = (): CrewEvent | undefined => events.find(({ type }) => type === NOTICED[fault]);
  if (!(await until(() => noticed() !== undefined))) return { good: false, text: `not noticed within ${LIMIT_MS / 1000} s` };
  const noticedMs = performance.now() - began;
  const before = Float64Array.from(crew.envFrames());
  const more = (env: number): number => (crew.envFrames()[env] as number) - (before[env] as number);
  const back = await until(() => Array.from({ length: ENVS }, (_, env) => more(env)).every((frames) => frames > 0));
  const backS = (performance.now() - began) / 1000;
  const others = fault === 'raise' ? [0, 1, 2, 4, 5, 6, 7] : [4, 5, 6, 7];
  const least = Math.min(...others.map(more));
  const stopBegan = performance.now();
  await rig.stop();
  const stopS = (performance.now() - stopBegan) / 1000;
  const said = noticed()?.message ?? '';
  const when = fault === 'kill' ? ` after ${noticedMs.toFixed(0)} ms` : fault === 'hang' ? `, step deadline ${STEP_DEADLINE_S} s` : '';
  const ended = back ? `all 8 envs step again ${backS.toFixed(2)} s after` : 'not all 8 envs came back';
  return {
    good: back,
    text: `"${said}"${when}; ${ended}; the other ${others.length} made at least ${least.toLocaleString('en-US')} steps each meanwhile; stop in ${stopS.toFixed(2)} s`,
  };
}

/** Raises the crew, lets the fault happen and looks. */
export async function observeOwnFault(fault: FaultName): Promise<Observed> {
  const rule = SCHEDULE[fault];
  const kind = rule === null ? { kind: 'noop' } : { kind: 'fault', config: { kind: 'noop', schedule: [rule] } };
  const { plan, entries } = await createRigPlan(ENVS, kind, 'random');
  const events: CrewEvent[] = [];
  const deadlines = { construct: 30, reset: STEP_DEADLINE_S, step: STEP_DEADLINE_S, close: STEP_DEADLINE_S };
  const rig = await raiseBenchCrew(
    { plan: { ...plan, workers: 2, stepDeadlineSeconds: STEP_DEADLINE_S }, entries: entries.map((entry) => ({ ...entry, deadlines })) },
    20,
    (event) => events.push(event),
  );
  try {
    return await watch(fault, rig, events);
  } finally {
    await rig.stop();
  }
}
