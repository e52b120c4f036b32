// The twin's latency histogram: the same log-linear buckets as native/src/histogram.h (128 per octave, exact below 256 ns), kept sparse.
import type { LatencyPairs } from './interface.js';

const SUB_BITS = 7;
const SUB = 2 ** SUB_BITS;
const MAX_NS = 2 ** 42 - 1;

export interface LatencyBuckets {
  record(ns: number): void;
  pairs(): LatencyPairs;
  clear(): void;
}

/** Mid-point in ns of the bucket that `ns` falls into; error below 0.8 %. */
export function bucketMidpointNs(ns: number): number {
  const whole = Math.min(Math.max(0, Math.floor(ns)), MAX_NS);
  if (whole < 2 * SUB) return whole;
  const width = 2 ** (Math.floor(Math.log2(whole)) - SUB_BITS);
  return Math.floor(whole / width) * width + (width - 1) / 2;
}

export function latencyBuckets(): LatencyBuckets {
  const counts = new Map<number, number>();
  let maxNs = 0;
  return {
    record(ns) {
      const value = bucketMidpointNs(ns);
      counts.set(value, (counts.get(value) ?? 0) + 1);
      if (ns > maxNs) maxNs = ns;
    },
    pairs() {
      const sorted = [...counts].sort((a, b) => a[0] - b[0]);
      return { valueUs: sorted.map(([ns]) => ns / 1e3), count: sorted.map(([, count]) => count), maxUs: maxNs / 1e3 };
    },
    clear() {
      counts.clear();
      maxNs = 0;
    },
  };
}
