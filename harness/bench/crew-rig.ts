// The whole crew of a run (supervisor in this process, worker, learner) for benches that need the real learner, and for start-up. Any
// death or fatal error ends the bench with its reason.
import type { Plan } from '../contract/plan.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Crew, CrewEvent, TierStart } from '../supervisor/crew.js';
import { raiseCrew } from '../supervisor/raise-crew.js';
import type { RigPlan } from './rig-plan.js';

/** A bench never needs a checkpoint or a drained rollout: children get this long to leave. */
const DRAIN_MS = 3000;

export interface BenchCrew {
  readonly crew: Crew;
  readonly tier: TierStart;
  /** Seconds from before the first process was started to the moment all envs were live. */
  readonly allLiveS: number;
  /** Seconds of that until the children were up and `growTo` was called. */
  readonly processesS: number;
  /** Polls the learner until `ready(snapshot)`. Rejects when the crew fails or after `limitMs`: undefined. */
  pollUntil(ready: (snapshot: LearnerSnapshot) => boolean, limitMs: number): Promise<LearnerSnapshot | undefined>;
  stop(): Promise<void>;
}

/** Raises the crew and grows to the plan's first tier. */
export async function raiseBenchCrew(
  { plan, entries }: RigPlan,
  pollMs = 20,
  onEvent: (event: CrewEvent) => void = () => undefined,
): Promise<BenchCrew> {
  const began = performance.now();
  const crew = await raiseCrew({
    runId: `bench-${process.pid}-${Math.floor(began)}`,
    plan,
    entries,
    module: null,
    checkpointDir: null,
    resume: null,
    onEvent,
    onDeath: () => undefined,
    onStats: () => undefined,
  });
  const failure: { error?: Error } = {};
  void crew.failed.then((error) => {
    failure.error = error;
  });
  const stop = async (): Promise<void> => {
    await crew.stop(DRAIN_MS);
  };
  const up = performance.now();
  const tier = await crew.growTo(0);
  if (failure.error !== undefined || tier.timeToAllLiveS === null) {
    await stop();
    throw failure.error ?? new Error(`${plan.name}: not all envs live within ${plan.startDeadlineSeconds} s`);
  }
  return {
    crew,
    tier,
    allLiveS: (performance.now() - began) / 1000,
    processesS: (up - began) / 1000,
    async pollUntil(ready, limitMs) {
      const end = performance.now() + limitMs;
      while (performance.now() < end) {
        if (failure.error !== undefined) throw failure.error;
        const snapshot = await Promise.race([crew.snapshot(), crew.failed]);
        if (snapshot instanceof Error) throw snapshot;
        if (ready(snapshot)) return snapshot;
        await new Promise((later) => setTimeout(later, pollMs));
      }
      return undefined;
    },
    stop,
  };
}

/** A plan of the crew's own, for benches that set hyper-parameters. */
export function withPpo(rigPlan: RigPlan, backend: Plan['backend'], ppo: Partial<Plan['ppo']>): RigPlan {
  return { ...rigPlan, plan: { ...rigPlan.plan, learner: 'ppo', backend, ppo: { ...rigPlan.plan.ppo, ...ppo } } };
}
