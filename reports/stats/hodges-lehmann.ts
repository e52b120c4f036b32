// Hodges and Lehmann's shift between two samples: the median of all differences between a value of one and a value of the other. Robust
// against single disturbed runs, in the unit of the values. Pure.
import { quantileOfSorted } from './median.js';

/** By how much candidate lies above base. NaN when a side is empty. */
export function hodgesLehmann(base: ArrayLike<number>, candidate: ArrayLike<number>): number {
  const differences = new Float64Array(base.length * candidate.length);
  let at = 0;
  for (let i = 0; i < base.length; i++) {
    for (let j = 0; j < candidate.length; j++) differences[at++] = (candidate[j] as number) - (base[i] as number);
  }
  return quantileOfSorted(differences.sort(), 0.5);
}
