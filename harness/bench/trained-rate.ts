// Transitions trained per second of wall time, from the end of one update to the end of a later one, so that no update counts in part.
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { BenchCrew } from './crew-rig.js';

/** An update that does not come within this is a hang. */
const UPDATE_LIMIT_MS = 60_000;

/** The snapshot right after the next update beyond number `after`. */
export async function nextUpdate(crew: BenchCrew, after: number): Promise<LearnerSnapshot> {
  const snapshot = await crew.pollUntil(({ updates }) => updates > after, UPDATE_LIMIT_MS);
  if (snapshot === undefined) throw new Error(`no update within ${UPDATE_LIMIT_MS / 1000} s`);
  return snapshot;
}

/** Measures from the snapshot `first`, taken right after an update, for at least `ms`. Returns the rate and the snapshot at its end. */
export async function measureTrained(
  crew: BenchCrew,
  first: LearnerSnapshot,
  ms: number,
): Promise<{ readonly sps: number; readonly last: LearnerSnapshot }> {
  let last = await nextUpdate(crew, first.updates);
  while (last.monotonicMs - first.monotonicMs < ms) last = await nextUpdate(crew, last.updates);
  return { sps: (last.trained - first.trained) / ((last.monotonicMs - first.monotonicMs) / 1000), last };
}
