// E-Divisive means (Matteson and James, 2014): where a series of measurements changed level. Splits the series where the energy distance
// between the two sides is greatest, keeps the split if few random orders of the same values do as well, goes on inside the parts.
// Needs no shape of noise. Advice, never a gate. Pure and seeded.
import { seededRandom, shuffled } from './seeded-random.js';

export interface ChangePoint {
  /** First value of the new level. */
  readonly index: number;
  readonly p: number;
}

export interface EDivisiveOptions {
  readonly seed: number;
  /** Fewest values between two changes: what two runs in a row do may be chance. */
  readonly minSegment?: number;
  readonly permutations?: number;
  readonly alpha?: number;
}

/** Newest values that are looked at; the work grows with the square. */
export const MAX_SERIES = 300;

interface Split {
  readonly at: number;
  readonly energy: number;
}

function absoluteDifferences(values: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    for (let j = i + 1; j < values.length; j++) sum += Math.abs((values[i] as number) - (values[j] as number));
  }
  return sum;
}

/** The split of `values` with the greatest scaled energy distance between its sides; undefined when it is too short for one. */
function bestSplit(values: readonly number[], minSegment: number): Split | undefined {
  const count = values.length;
  if (count < 2 * minSegment) return undefined;
  let left = 0;
  let between = 0;
  let right = absoluteDifferences(values);
  let best: Split | undefined;
  for (let at = 1; at < count; at++) {
    // Value at - 1 moves from right to left.
    const moved = values[at - 1] as number;
    let toLeft = 0;
    let toRight = 0;
    for (let i = 0; i < at - 1; i++) toLeft += Math.abs((values[i] as number) - moved);
    for (let j = at; j < count; j++) toRight += Math.abs((values[j] as number) - moved);
    left += toLeft;
    right -= toRight;
    between += toRight - toLeft;
    const n = at;
    const m = count - at;
    if (n < minSegment || m < minSegment) continue;
    const energy = (2 * between) / (n * m) - left / ((n * (n - 1)) / 2) - right / ((m * (m - 1)) / 2);
    const scaled = (energy * n * m) / (n + m);
    if (best === undefined || scaled > best.energy) best = { at, energy: scaled };
  }
  return best;
}

/** Change points in rising order. `values` is oldest first, at most MAX_SERIES long (throws beyond: thin or cut it first). */
export function eDivisive(values: readonly number[], options: EDivisiveOptions): ChangePoint[] {
  if (values.length > MAX_SERIES) throw new RangeError(`a series has at most ${MAX_SERIES} values, found ${values.length}`);
  const minSegment = Math.max(2, options.minSegment ?? 4);
  const permutations = options.permutations ?? 199;
  const alpha = options.alpha ?? 0.01;
  const random = seededRandom(options.seed);
  const found: ChangePoint[] = [];
  const search = (from: number, to: number): void => {
    const part = values.slice(from, to);
    const split = bestSplit(part, minSegment);
    if (split === undefined || split.energy <= 0) return;
    // Equal values may differ in the last bits of a sum: that much is no more than equal.
    const enough = split.energy * (1 - 1e-9);
    let asGood = 1;
    for (let i = 0; i < permutations; i++) if ((bestSplit(shuffled(part, random), minSegment)?.energy ?? 0) >= enough) asGood += 1;
    const p = asGood / (permutations + 1);
    if (p > alpha) return;
    found.push({ index: from + split.at, p });
    search(from, from + split.at);
    search(from + split.at, to);
  };
  search(0, values.length);
  return found.sort((a, b) => a.index - b.index);
}
