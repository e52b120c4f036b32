// A bootstrap interval for a statistic of two samples: both sides are drawn again with replacement, many times, and the middle of what
// comes out is the interval (percentile method). Seeded, so that it can be computed again. Pure.
import { quantileOfSorted } from './median.js';
import { drawBelow, seededRandom } from './seeded-random.js';

/** 2,000 draws: the ends of a 95 % interval stand on 50 draws each, and move by about 1 % of its width between seeds. */
export const BOOTSTRAP_DRAWS = 2_000;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly seed: number;
  readonly draws?: number;
  readonly confidence?: number;
}

/** Interval of `statistic(base, candidate)`; null when a side has fewer than two values, of which no spread can be known. */
export function bootstrapInterval(
  base: readonly number[],
  candidate: readonly number[],
  statistic: (base: ArrayLike<number>, candidate: ArrayLike<number>) => number,
  options: BootstrapOptions,
): Interval | null {
  if (base.length < 2 || candidate.length < 2) return null;
  const random = seededRandom(options.seed);
  const draws = options.draws ?? BOOTSTRAP_DRAWS;
  const drawnBase = new Float64Array(base.length);
  const drawnCandidate = new Float64Array(candidate.length);
  const results = new Float64Array(draws);
  const redraw = (into: Float64Array, from: readonly number[]): void => {
    for (let i = 0; i < into.length; i++) into[i] = from[drawBelow(random, from.length)] as number;
  };
  for (let draw = 0; draw < draws; draw++) {
    redraw(drawnBase, base);
    redraw(drawnCandidate, candidate);
    results[draw] = statistic(drawnBase, drawnCandidate);
  }
  results.sort();
  const outside = (1 - (options.confidence ?? 0.95)) / 2;
  return { low: quantileOfSorted(results, outside), high: quantileOfSorted(results, 1 - outside) };
}
