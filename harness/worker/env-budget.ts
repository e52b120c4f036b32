// What becomes of an env that failed: built anew at once, after a wait, after a cool-down, or not any more. Pure: failure times, clock and
// chance are arguments. Read by env-recovery.ts; the times of failures outlive the worker (`WorkerStart.failed`).
import type { HealthPlan } from '../contract/plan-health.js';

export interface EnvBudget {
  readonly restarts: number;
  readonly windowMs: number;
  readonly coolDowns: number;
  readonly coolDownMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

export type Fate =
  | { readonly fate: 'rebuild'; readonly waitMs: number }
  | { readonly fate: 'cool-down'; readonly waitMs: number }
  | { readonly fate: 'quarantine' };

export function budgetOf(health: HealthPlan): EnvBudget {
  return {
    restarts: health.envBudget.restarts,
    windowMs: health.envBudget.perSeconds * 1000,
    coolDowns: health.coolDowns,
    coolDownMs: health.coolDownSeconds * 1000,
    backoffBaseMs: health.backoff.baseSeconds * 1000,
    backoffMaxMs: health.backoff.maxSeconds * 1000,
  };
}

/** The failures that still count at `nowMs`. */
export function withinWindow(failuresMs: readonly number[], budget: EnvBudget, nowMs: number): number[] {
  return failuresMs.filter((at) => nowMs - at < budget.windowMs);
}

/** Wait before the n-th restart within the window: none before the first, then random in [0.5, 1] of base * 2^(n - 2), never above the maximum. */
export function backoffMs(n: number, budget: EnvBudget, chance: number): number {
  if (n <= 1) return 0;
  // 2^60 base seconds are beyond any maximum; the exponent must not overflow.
  const full = Math.min(budget.backoffMaxMs, budget.backoffBaseMs * 2 ** Math.min(n - 2, 60));
  return full * (0.5 + chance / 2);
}

/**
 * Judges an env's newest failure. `count`: failures within the window, the newest included. `chance` is uniform in [0, 1). A constructor
 * past its budget is not tried again: what it needs is missing, and time alone does not bring it.
 */
export function judgeFailure(count: number, constructing: boolean, budget: EnvBudget, chance: number): Fate {
  if (count <= budget.restarts) return { fate: 'rebuild', waitMs: backoffMs(count, budget, chance) };
  if (!constructing && count - budget.restarts <= budget.coolDowns) return { fate: 'cool-down', waitMs: budget.coolDownMs };
  return { fate: 'quarantine' };
}
