// Decides that a worker hangs: none of its progress words moved for the step deadline. Time that the supervisor itself slept (a stopped
// machine, a long allocation) is not held against anyone: only observed time counts. Pure; fed by crew-watch.ts.
import type { Progress } from '../memory/interface.js';

export interface StallJudge {
  /** Call at regular intervals with the time since the last call. True: the worker made no progress for longer than the deadline. */
  observe(worker: number, progress: Progress, elapsedMs: number): boolean;
  /** Forgets a worker: it is being started, or gone. */
  forget(worker: number): void;
}

interface Sight {
  envId: number;
  op: string;
  loops: number;
  flatMs: number;
}

/** `intervalMs` is how often `observe` is meant to be called; a gap counts as at most two intervals. */
export function createStallJudge(deadlineMs: number, intervalMs: number): StallJudge {
  const sights = new Map<number, Sight>();
  return {
    observe(worker, { envId, op, loops }, elapsedMs) {
      const last = sights.get(worker);
      if (last === undefined || last.envId !== envId || last.op !== op || last.loops !== loops) {
        sights.set(worker, { envId, op, loops, flatMs: 0 });
        return false;
      }
      last.flatMs += Math.min(elapsedMs, 2 * intervalMs);
      return last.flatMs > deadlineMs;
    },
    forget(worker) {
      sights.delete(worker);
    },
  };
}
