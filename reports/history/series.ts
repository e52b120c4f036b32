// A history as series: per metric its values over the runs, and where its level changed. Invalid runs are shown, never counted. Pure.

import { type MetricUnit, metricId } from '../compare/run-metrics.js';
import { type ChangePoint, eDivisive, MAX_SERIES } from '../stats/e-divisive.js';
import { median } from '../stats/median.js';
import { seedOf } from '../stats/seeded-random.js';
import type { HistoryEntry } from './history-entry.js';

export interface SeriesPoint {
  readonly run: string;
  readonly at: string;
  readonly commit: string | null;
  readonly value: number;
  readonly valid: boolean;
}

/** Runs from `from` to before `to` (indices of points) at one level. */
export interface Level {
  readonly from: number;
  readonly to: number;
  readonly median: number;
}

export interface Change {
  /** First point of the new level. */
  readonly point: SeriesPoint;
  /** New level over old, less one. */
  readonly shift: number;
  readonly worse: boolean;
  readonly p: number;
}

export interface Series {
  readonly name: string;
  readonly tierEnvs: number | null;
  readonly unit: MetricUnit;
  readonly better: 'higher' | 'lower';
  /** Oldest first, the newest MAX_SERIES. */
  readonly points: readonly SeriesPoint[];
  readonly levels: readonly Level[];
  readonly changes: readonly Change[];
}

type Bare = Omit<Series, 'levels' | 'changes' | 'points'> & { readonly points: SeriesPoint[] };

function collect(entries: readonly HistoryEntry[]): Bare[] {
  const found = new Map<string, Bare>();
  for (const entry of entries.slice(-MAX_SERIES)) {
    for (const { name, tier_envs: tierEnvs, unit, better, value } of entry.metrics) {
      const id = metricId({ name, tierEnvs });
      const series = found.get(id) ?? { name, tierEnvs, unit, better, points: [] };
      series.points.push({ run: entry.run, at: entry.at, commit: entry.git_commit, value, valid: entry.verdict === 'valid' });
      found.set(id, series);
    }
  }
  return [...found.values()];
}

/** Levels between change points, given as indices of all points (invalid ones among them). */
function levelsOf(points: readonly SeriesPoint[], starts: readonly number[]): Level[] {
  const bounds = [0, ...starts, points.length];
  return bounds.slice(0, -1).flatMap((from, i) => {
    const to = bounds[i + 1] as number;
    const values = points.slice(from, to).filter((point) => point.valid);
    return values.length === 0 ? [] : [{ from, to, median: median(values.map((point) => point.value)) }];
  });
}

function changesOf(series: Bare, found: readonly (ChangePoint & { readonly at: number })[], levels: readonly Level[]): Change[] {
  return found.flatMap(({ at, p }, i) => {
    const [before, after] = [levels[i], levels[i + 1]];
    const point = series.points[at];
    if (before === undefined || after === undefined || point === undefined) return [];
    const shift = (after.median - before.median) / (Math.abs(before.median) || 1);
    return [{ point, shift, p, worse: series.better === 'higher' ? shift < 0 : shift > 0 }];
  });
}

/** Series of every metric, in the order of the runs' own metrics. */
export function seriesOf(entries: readonly HistoryEntry[], seed = 1): Series[] {
  return collect(entries).map((series) => {
    const validAt = series.points.flatMap((point, i) => (point.valid ? [i] : []));
    const values = validAt.map((i) => series.points[i]?.value ?? 0);
    const found = eDivisive(values, { seed: seedOf(metricId(series), seed) }).map((change) => ({
      ...change,
      at: validAt[change.index] as number,
    }));
    const levels = levelsOf(
      series.points,
      found.map((change) => change.at),
    );
    return { ...series, levels, changes: changesOf(series, found, levels) };
  });
}
