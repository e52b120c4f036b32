// How many envs of each mix entry a tier holds. Largest remainder (Hamilton's method) seat by seat: each new env goes to the entry
// furthest below its share of the new total. Starting from the tier before, no entry ever shrinks. Pure.
import assert from 'node:assert/strict';

/**
 * Counts per entry for each total. Every row sums to its total exactly and is at least the row before it, entry by entry; equal inputs
 * give equal rows. `shares` are positive and sum to 1, `totals` rise.
 */
export function apportion(shares: readonly number[], totals: readonly number[]): number[][] {
  assert(shares.length > 0, 'at least one share');
  const counts = shares.map(() => 0);
  let seated = 0;
  return totals.map((total) => {
    assert(total >= seated, `totals must rise: ${total} after ${seated}`);
    const quotas = shares.map((share) => share * total);
    for (; seated < total; seated++) {
      let neediest = 0;
      let most = Number.NEGATIVE_INFINITY;
      for (let entry = 0; entry < counts.length; entry++) {
        const short = (quotas[entry] ?? 0) - (counts[entry] ?? 0);
        // Shares like 0.1 are not exact in binary: differences below 1e-9 of an env are ties, and ties go to the earlier entry.
        if (short > most + 1e-9) {
          most = short;
          neediest = entry;
        }
      }
      counts[neediest] = (counts[neediest] ?? 0) + 1;
    }
    return [...counts];
  });
}
