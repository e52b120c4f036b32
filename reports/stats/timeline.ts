// Curves over the run's time from the metrics lines. Rates come from differences of counters between kept lines, so that thinning a
// long run averages instead of picking single seconds. Pure.
import type { MetricsLine } from '../../harness/contract/metrics.js';

export interface RatePoint {
  /** End of the interval, seconds since the run began. */
  readonly t: number;
  readonly samplingSps: number;
  readonly trainingSps: number;
}

export function ratesOf(metrics: readonly MetricsLine[]): RatePoint[] {
  const points: RatePoint[] = [];
  let before: MetricsLine | undefined;
  for (const line of metrics) {
    const seconds = line.t_s - (before?.t_s ?? 0);
    if (before !== undefined && seconds > 0) {
      points.push({
        t: line.t_s,
        samplingSps: Math.max(0, line.published - before.published) / seconds,
        trainingSps: Math.max(0, line.trained - before.trained) / seconds,
      });
    }
    before = line;
  }
  return points;
}

export interface TierStart {
  readonly t: number;
  readonly tier: number;
  /** Most environments seen live in it: its size, should the record not have come to know it. */
  readonly envsLive: number;
}

/** When each tier shows up first, by the metrics. */
export function tierStarts(metrics: readonly MetricsLine[]): TierStart[] {
  const starts: TierStart[] = [];
  for (const line of metrics) {
    const last = starts.at(-1);
    if (last?.tier === line.tier) starts[starts.length - 1] = { ...last, envsLive: Math.max(last.envsLive, line.envs_live) };
    else starts.push({ t: line.t_s, tier: line.tier, envsLive: line.envs_live });
  }
  return starts;
}

export interface ReturnPoint {
  readonly t: number;
  readonly value: number;
}

/** Mean return of the last up to 100 episodes of one mix entry, where there was one. */
export function returnsOf(metrics: readonly MetricsLine[], entry: string): ReturnPoint[] {
  return metrics.flatMap((line) => {
    const value = line.kinds[entry]?.return_mean ?? null;
    return value === null ? [] : [{ t: line.t_s, value }];
  });
}
