// Samples and the record's histograms as TensorBoard distributions. Pure.
import { percentilesOf, type ValueCounts } from '../../../harness/contract/latency.js';
import type { Distribution } from './event.js';

/** As many as TensorBoard itself draws. */
const BUCKETS = 30;

/** Equal widths from the least to the greatest sample. Undefined without samples. */
export function distributionOf(samples: readonly number[]): Distribution | undefined {
  if (samples.length === 0) return undefined;
  let [min, max, sum, sumSquares] = [Infinity, -Infinity, 0, 0];
  for (const sample of samples) {
    min = Math.min(min, sample);
    max = Math.max(max, sample);
    sum += sample;
    sumSquares += sample * sample;
  }
  if (!(max > min)) return { min, max, sum, sumSquares, limit: [max], count: [samples.length] };
  const width = (max - min) / BUCKETS;
  const limit = Array.from({ length: BUCKETS }, (_, i) => (i === BUCKETS - 1 ? max : min + (i + 1) * width));
  const count = new Array<number>(BUCKETS).fill(0);
  for (const sample of samples) {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.ceil((sample - min) / width) - 1));
    count[bucket] = (count[bucket] ?? 0) + 1;
  }
  return { min, max, sum, sumSquares, limit, count };
}

/** A histogram of bucket mid-points: limits stand half way to the next filled bucket. */
export function distributionOfPairs(pairs: ValueCounts): Distribution | undefined {
  const { max } = percentilesOf(pairs);
  const filled = pairs.value_us
    .map((value, i) => [value, pairs.count[i] ?? 0] as const)
    .filter(([, count]) => count > 0)
    .sort((a, b) => a[0] - b[0]);
  const min = filled[0]?.[0];
  if (max === null || min === undefined) return undefined;
  return {
    min,
    max,
    sum: filled.reduce((total, [value, count]) => total + value * count, 0),
    sumSquares: filled.reduce((total, [value, count]) => total + value * value * count, 0),
    limit: filled.map(([value], i) => (value + (filled[i + 1]?.[0] ?? max)) / 2),
    count: filled.map(([, count]) => count),
  };
}
