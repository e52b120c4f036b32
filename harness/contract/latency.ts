// Percentiles of a histogram given as (value, count) pairs: how a tier's latency is summed up in the record and drawn in the report.
// Pure. Histograms of several tiers or workers are merged by adding counts, never by averaging percentiles.

/** A histogram as it stands in run.json: bucket mid-points in microseconds and how many frames fell into each. Any order, no repeats needed. */
export interface ValueCounts {
  readonly value_us: readonly number[];
  readonly count: readonly number[];
}

export interface LatencySummary {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  p999: number | null;
  max: number | null;
}

interface SortedPairs {
  readonly values: readonly number[];
  /** cumulative[i] = samples with a value of at most values[i]. */
  readonly cumulative: readonly number[];
  readonly total: number;
}

function sortPairs(pairs: ValueCounts): SortedPairs {
  const order = pairs.value_us.map((value, i) => [value, pairs.count[i] ?? 0] as const).filter(([, count]) => count > 0);
  order.sort((a, b) => a[0] - b[0]);
  let total = 0;
  const cumulative = order.map(([, count]) => (total += count));
  return { values: order.map(([value]) => value), cumulative, total };
}

/** First index whose cumulative count reaches the nearest rank ceil(q * total), at least 1. */
function rankIndex(sorted: SortedPairs, q: number): number {
  // 1e-9 takes back the rounding of q * total (0.999 * 1000 = 999.0000000000001 must stay rank 999).
  const rank = Math.min(sorted.total, Math.max(1, Math.ceil(q * sorted.total - 1e-9)));
  let low = 0;
  let high = sorted.cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted.cumulative[middle] ?? 0) >= rank) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Number of samples in a histogram. */
export function sampleCount(pairs: ValueCounts): number {
  return pairs.count.reduce((sum, count) => sum + count, 0);
}

/**
 * Nearest-rank percentiles in microseconds: the smallest value that at least a share q of the samples does not exceed.
 * `maxUs` is the exact maximum where the histogram only knows a bucket; no percentile is reported above it. All null without samples.
 */
export function percentilesOf(pairs: ValueCounts, maxUs?: number): LatencySummary {
  const sorted = sortPairs(pairs);
  if (sorted.total === 0) return { p50: null, p90: null, p99: null, p999: null, max: null };
  const max = maxUs ?? sorted.values.at(-1) ?? 0;
  const at = (q: number) => Math.min(max, sorted.values[rankIndex(sorted, q)] ?? max);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max };
}

/** The value in microseconds at each share of `shares` (0..1), by the same rule as `percentilesOf`. Empty without samples. */
export function valuesAt(pairs: ValueCounts, shares: readonly number[]): number[] {
  const sorted = sortPairs(pairs);
  return sorted.total === 0 ? [] : shares.map((q) => sorted.values[rankIndex(sorted, q)] ?? 0);
}

/** Adds histograms: counts of equal values are summed, values come out rising. */
export function mergePairs(parts: readonly ValueCounts[]): ValueCounts {
  const sums = new Map<number, number>();
  for (const part of parts) {
    for (const [i, value] of part.value_us.entries()) sums.set(value, (sums.get(value) ?? 0) + (part.count[i] ?? 0));
  }
  const values = [...sums.keys()].sort((a, b) => a - b);
  return { value_us: values, count: values.map((value) => sums.get(value) ?? 0) };
}
