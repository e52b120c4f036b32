// What a soak runs: the plan that was named, or one of its own for a number of hours; for a resumed soak, what is left of it. Pure but for
// reading the plan's file.
import type { PlanInput } from '../../contract/plan.js';
import { planSchema } from '../../contract/plan.js';
import { readPlanSource } from '../../ladder/plan-source.js';

/** Four workers with fifty envs of three kinds each, training: small enough for two cores, everything at work. */
export const HOURS_PLAN: Partial<PlanInput> = {
  name: 'soak',
  tiers: [{ envs: 200, label: 'soak' }],
  mix: { cartpole: 0.5, pendulum: 0.25, 'mountain-car': 0.25 },
  workers: 4,
  learner: 'ppo',
  ppo: { horizon: 16, epochs: 1, checkpointSeconds: 60 },
  // The soak kills more often than any machine should: its own faults must not use the budgets up.
  health: { workerBudget: { restarts: 10_000 }, runBudget: { restarts: 10_000 } },
};

export type RawPlan = Record<string, unknown>;

/** The plan of a soak as YAML's value. Throws what `readPlanSource` throws. */
export function soakPlan(
  request: { plan?: string | undefined; hours?: number | undefined; seed: number; cwd: string },
  redisUrl: string | null,
): RawPlan {
  const raw: RawPlan =
    request.plan === undefined
      ? { ...HOURS_PLAN, seed: request.seed, seconds: Math.max(1, Math.round((request.hours ?? 1) * 3600)) }
      : { ...readPlanSource(request.plan, request.cwd).value };
  // A plan that names a Redis of its own keeps it: then there is nothing of ours to take away.
  return redisUrl === null || raw.redis !== undefined ? raw : { ...raw, redis: { url: redisUrl } };
}

interface RawTier {
  readonly envs: number;
  readonly seconds?: number;
}

/** What is left of a plan of which `doneSeconds` of measured time are over; null when nothing is. Pure. */
export function restOf(raw: RawPlan, doneSeconds: number): RawPlan | null {
  const plan = planSchema.parse(raw);
  let done = doneSeconds;
  const rest: (RawTier & Record<string, unknown>)[] = [];
  for (const tier of plan.tiers) {
    const full = typeof tier === 'number' ? { envs: tier, seconds: plan.seconds } : { ...tier, seconds: tier.seconds ?? plan.seconds };
    const left = full.seconds - done;
    done = Math.max(0, done - full.seconds);
    if (left >= 1) rest.push({ ...full, seconds: left });
  }
  return rest.length === 0 ? null : { ...raw, tiers: rest };
}
