// The median, and quantiles of sorted values. Pure.

/** Quantile of rising `sorted` by linear interpolation between order statistics (R's type 7, NumPy's default). NaN when empty. */
export function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const low = Math.floor(place);
  const below = sorted[low] as number;
  const above = sorted[Math.min(sorted.length - 1, low + 1)] as number;
  return below + (above - below) * (place - low);
}

/** Median of `values` in any order. NaN when empty. */
export function median(values: ArrayLike<number>): number {
  return quantileOfSorted(Float64Array.from(values).sort(), 0.5);
}
