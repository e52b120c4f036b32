// The A/A floor: how far two halves of the same side's runs typically lie apart, as a share of the median. What a comparison of equal
// programs shows on this machine, measured from the comparison's own runs. Pure and seeded.
import { hodgesLehmann } from './hodges-lehmann.js';
import { median } from './median.js';
import { seededRandom, shuffled } from './seeded-random.js';

/** Below it a half is a single run and its distance from another tells nothing. */
export const MIN_FLOOR_RUNS = 4;
/** Random halvings; there are only C(8, 4) / 2 = 35 different ones of eight runs. */
const HALVINGS = 101;

/** Median over random halvings of |shift between the halves| / |median of all|; null with fewer than MIN_FLOOR_RUNS values. */
export function noiseFloor(values: readonly number[], seed: number): number | null {
  if (values.length < MIN_FLOOR_RUNS) return null;
  const scale = Math.abs(median(values));
  const random = seededRandom(seed);
  const half = values.length >> 1;
  const shifts = Array.from({ length: HALVINGS }, () => {
    const mixed = shuffled(values, random);
    return Math.abs(hodgesLehmann(mixed.slice(0, half), mixed.slice(half)));
  });
  const shift = median(shifts);
  return shift === 0 ? 0 : scale === 0 ? null : shift / scale;
}
