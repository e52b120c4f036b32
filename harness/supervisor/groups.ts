// When the next group of a tier wakes: once every env of the group before has made its frames, or a time after that group woke. Pure;
// asked by the tier start every few milliseconds.
import type { GroupsPlan } from '../contract/plan-health.js';
import type { SlotWords } from '../memory/interface.js';

export type WakeRule = Pick<GroupsPlan, 'wakeSteps' | 'wakeSeconds'>;

/**
 * Frames of the env that is furthest behind, of those that can still make any: quarantined ones are out. Infinity when all are out, so
 * that a group of broken envs does not hold up the rest. `count` slots from index `from` of `words`.
 */
export function leastFrames(words: Pick<SlotWords, 'seq' | 'retired'>, from: number, count: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let slot = from; slot < from + count; slot++) {
    if (words.retired[slot] === 0) least = Math.min(least, words.seq[slot] ?? 0);
  }
  return least;
}

/** Whether the group after one that woke at `wokenMs` and has made `frames` frames (leastFrames) is due. */
export function isNextDue({ wakeSteps, wakeSeconds }: WakeRule, wokenMs: number, nowMs: number, frames: () => number): boolean {
  if (wakeSteps !== undefined) return frames() >= wakeSteps;
  return nowMs - wokenMs >= (wakeSeconds ?? 0) * 1000;
}
