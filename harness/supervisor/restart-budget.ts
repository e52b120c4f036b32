// How often something may be started again: at most `restarts` within any `perSeconds`, and how long to wait before each. Pure; used by
// worker and learner posts, per env, per worker, for the learner and for the run. Bounded: one number per restart within the window.
import type { HealthPlan } from '../contract/plan-health.js';

export type Budget = HealthPlan['workerBudget'];

export interface RestartBudget {
  /** Takes one restart out of the budget. False: it is used up, and nothing was taken. */
  take(nowMs: number): boolean;
  /** Restarts left at this moment. */
  left(nowMs: number): number;
  /** Restarts taken within the window. */
  used(nowMs: number): number;
}

export function createRestartBudget({ restarts, perSeconds }: Budget): RestartBudget {
  let taken: number[] = [];
  const recent = (nowMs: number): number => {
    taken = taken.filter((atMs) => nowMs - atMs < perSeconds * 1000);
    return taken.length;
  };
  return {
    take(nowMs) {
      if (recent(nowMs) >= restarts) return false;
      taken.push(nowMs);
      return true;
    },
    left: (nowMs) => Math.max(0, restarts - recent(nowMs)),
    used: recent,
  };
}

/**
 * Wait before the `nth` restart within the window (from 1): none before the first, then a random part of a doubling time, so that many that
 * died together do not come back together. `random` is in [0, 1).
 */
export function backoffMs(nth: number, { baseSeconds, maxSeconds }: HealthPlan['backoff'], random: number): number {
  if (nth <= 1) return 0;
  // Beyond 2^31 times the base every sane maximum is reached.
  const longestMs = 1000 * Math.min(maxSeconds, baseSeconds * 2 ** Math.min(nth - 2, 31));
  return longestMs * (0.5 + random / 2);
}
