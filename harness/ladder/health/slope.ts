// How fast something grows, with an interval one may act on. Pure. simple-statistics has the median and the normal quantile; it lacks the slope
// between all pairs and its interval: P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", JASA 63 (1968), section 5.
import { median, probit } from 'simple-statistics';
import type { Slope } from '../../contract/health-report.js';

/** Blocks a series is cut into: 435 pairs. Medians of blocks take out spikes of garbage collection and most of what neighbours share. */
const MOST_BLOCKS = 30;
/** Fewer give an interval that says nothing: the smallest number for which a 95 % interval by Kendall's tau is finite is 4. */
const FEWEST_BLOCKS = 5;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Slope per unit of x with a 95 % interval; null with too few points. `points` rise in x. */
export function robustSlope(points: readonly Point[]): Slope {
  const blocks = blocksOf(points);
  const n = blocks.length;
  if (n < FEWEST_BLOCKS) return null;
  const slopes: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const [a, b] = [blocks[i] as Point, blocks[j] as Point];
      if (b.x > a.x) slopes.push((b.y - a.y) / (b.x - a.x));
    }
  }
  if (slopes.length < 2) return null;
  slopes.sort((a, b) => a - b);
  // Kendall's S has the variance n (n - 1) (2 n + 5) / 18; the interval lies between the slopes of rank (N -+ z sigma) / 2.
  const spread = probit(0.975) * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const rank = (at: number) => slopes[Math.min(slopes.length - 1, Math.max(0, at))] as number;
  return {
    value: median(slopes),
    low: rank(Math.floor((slopes.length - spread) / 2) - 1),
    high: rank(Math.ceil((slopes.length + spread) / 2)),
  };
}

function blocksOf(points: readonly Point[]): Point[] {
  const size = Math.ceil(points.length / MOST_BLOCKS);
  const blocks: Point[] = [];
  for (let from = 0; from < points.length; from += size) {
    const part = points.slice(from, from + size);
    // A last block of half the size would weigh as much as the others.
    if (part.length * 2 < size) break;
    blocks.push({ x: median(part.map(({ x }) => x)), y: median(part.map(({ y }) => y)) });
  }
  return blocks;
}
