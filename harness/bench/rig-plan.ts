// A one-worker plan for a bench: one kind, one tier, laid out by the supervisor's own block planner, so that a bench can never measure a
// layout that no run has.
import type { EntryMessage } from '../contract/messages.js';
import { type Plan, planSchema, resolvePlan } from '../contract/plan.js';
import { createRegistry, resolveKind } from '../envs/registry.js';
import { entryMessage } from '../supervisor/entry-message.js';

export interface RigKind {
  readonly kind: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface RigPlan {
  readonly plan: Plan;
  readonly entries: readonly EntryMessage[];
}

/** Resolves kind and plan. Throws `bad-kind` or `bad-plan` like any run. */
export async function createRigPlan(
  envs: number,
  { kind, config = {} }: RigKind,
  learner: Plan['learner'] = 'none',
  modules: readonly string[] = [],
): Promise<RigPlan> {
  const resolved = resolveKind(await createRegistry(modules), kind, config);
  const parsed = planSchema.parse({
    name: `bench ${kind}`,
    tiers: [envs],
    mix: { [kind]: { kind, share: 1, config } },
    workers: 1,
    learner,
  });
  const plan = resolvePlan(parsed, 2);
  return { plan, entries: plan.mix.map((entry) => entryMessage(plan, entry, resolved)) };
}
