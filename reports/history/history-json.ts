// A history as JSON: series, levels and changes per file. Names follow run.json. Pure.
import { metricId } from '../compare/run-metrics.js';
import type { History } from './history-folder.js';
import { type Change, type Series, type SeriesPoint, seriesOf } from './series.js';

function pointJson({ run, at, commit, value, valid }: SeriesPoint): unknown {
  return { run, at, git_commit: commit, value, valid };
}

function changeJson({ point, shift, worse, p }: Change): unknown {
  return { since_run: point.run, since_commit: point.commit, at: point.at, shift, worse, p };
}

function seriesJson(series: Series): unknown {
  return {
    metric: metricId(series),
    name: series.name,
    tier_envs: series.tierEnvs,
    unit: series.unit,
    better: series.better,
    points: series.points.map(pointJson),
    levels: series.levels,
    changes: series.changes.map(changeJson),
  };
}

/** Plain values, ready for JSON.stringify. */
export function historyJson({ file, entries, skippedLines }: History): unknown {
  const [first] = entries;
  return {
    file,
    plan: first?.plan ?? null,
    config_hash: first?.config_hash ?? null,
    machine_class: first?.machine_class ?? null,
    runs: entries.length,
    skipped_lines: skippedLines,
    series: seriesOf(entries).map(seriesJson),
  };
}
