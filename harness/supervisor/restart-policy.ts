// What happens after a worker's death, and which env is held responsible. Pure. In this version every worker is restarted once.
import type { Progress } from '../memory/interface.js';

export const RESTARTS_PER_WORKER = 1;

export type AfterDeath = 'restart' | 'lose-range';

/** `restarts`: how often this worker was restarted before. */
export function decideAfterDeath(restarts: number): AfterDeath {
  return restarts < RESTARTS_PER_WORKER ? 'restart' : 'lose-range';
}

/** The env in work when the worker died: it must not take the next life too. Null when none was. `close` means it was leaving anyway. */
export function envToBar(progress: Progress): number | null {
  if (progress.envId < 0) return null;
  return progress.op === 'construct' || progress.op === 'reset' || progress.op === 'step' ? progress.envId : null;
}
