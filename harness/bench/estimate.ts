// One figure from several windows: the median, and how far the windows lay apart. No means: one disturbed window must not move the figure.

export interface Estimate {
  /** Median of the windows. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Windows behind it. */
  readonly runs: number;
}

/** Median, least and greatest of `values`. Throws when there are none: a figure without a window is a bug. */
export function estimate(values: readonly number[]): Estimate {
  if (values.length === 0) throw new Error('an estimate needs at least one window');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  const value = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
  return { value, low: sorted[0] as number, high: sorted[sorted.length - 1] as number, runs: sorted.length };
}
