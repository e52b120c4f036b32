// A quantile of a few measured times, by the nearest rank: what a table of recoveries needs. Pure.

/** Null without values. `q` in [0, 1]. */
export function quantile(values: readonly number[], q: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? null;
}
