// How many restarts of workers the run as a whole may have. A thread host that falls takes all its seats along: to the run that is one
// death, however many seats it held. Bounded like every restart budget.
import { type Budget, createRestartBudget } from './restart-budget.js';

export interface RunBudget {
  /** Takes one restart; `hostPid` is the thread host that the worker fell with, else null. False: used up, and nothing was taken. */
  take(nowMs: number, hostPid: number | null): boolean;
}

/** Whether a thread ended because its host did, by the cause its exit was told with (thread-seats.ts). */
export const fellWithHost = (exitCause: string): boolean => /^(its )?thread host/.test(exitCause);

/** Whether its host was killed because another of its threads did not end: it had no part in that. */
export const fellForAnother = (exitCause: string): boolean => exitCause.startsWith('its thread host was killed');

export function createRunBudget(budget: Budget): RunBudget {
  const restarts = createRestartBudget(budget);
  /** All seats of a host end in one turn, so the newest fall is enough to know. */
  let fall: { readonly hostPid: number; readonly granted: boolean } | null = null;
  return {
    take(nowMs, hostPid) {
      if (hostPid === null) return restarts.take(nowMs);
      if (fall?.hostPid !== hostPid) fall = { hostPid, granted: restarts.take(nowMs) };
      return fall.granted;
    },
  };
}
