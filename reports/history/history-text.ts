// The words of a history, the same in every format: what changed, by how much, since when. Pure.
import { metricText, shareText, valueText } from '../compare/comparison-text.js';
import { formatInstant, MISSING } from '../quantity.js';
import type { Change, Series } from './series.js';

export const HISTORY_METHOD =
  'each point is one run; level = median of the valid runs between two changes; changes are found by E-Divisive means (permutation test, alpha 0.01) and are advice, not a verdict: compare the commits with envladder compare';

/** "commit abc123456789", or the run where no commit is known. */
export function sinceText(change: Change): string {
  return change.point.commit === null ? `run ${change.point.run}` : `commit ${change.point.commit.slice(0, 12)}`;
}

function shiftText(change: Change): string {
  return `${shareText(change.shift)} (${change.worse ? 'worse' : 'better'})`;
}

/** "−8.1 % (worse) since commit abc (run X, DATE), p 0.005". */
export function changeText(change: Change): string {
  return `${shiftText(change)} since ${sinceText(change)} (run ${change.point.run}, ${formatInstant(change.point.at)}), p ${change.p.toFixed(3)}`;
}

/** One line per run at which something changed, newest first: what a person looks into is a commit, not a metric. */
export function changeLines(all: readonly Series[]): string[] {
  const byRun = new Map<string, { first: Change; parts: string[] }>();
  for (const series of all) {
    for (const change of series.changes) {
      const entry = byRun.get(change.point.run) ?? { first: change, parts: [] };
      entry.parts.push(`${metricText(series)} ${shiftText(change)}`);
      byRun.set(change.point.run, entry);
    }
  }
  return [...byRun.values()]
    .sort((a, b) => (a.first.point.at < b.first.point.at ? 1 : a.first.point.at > b.first.point.at ? -1 : 0))
    .map(({ first, parts }) => `since ${sinceText(first)} (run ${first.point.run}, ${formatInstant(first.point.at)}): ${parts.join(', ')}`);
}

export const HISTORY_COLUMNS = [
  { heading: 'metric', align: 'left' },
  { heading: 'runs', align: 'right' },
  { heading: 'latest', align: 'right' },
  { heading: 'level', align: 'right' },
  { heading: 'last change', align: 'right' },
  { heading: 'since', align: 'left' },
] as const;

/** One row per metric, cells as HISTORY_COLUMNS. */
export function historyRow(series: Series): string[] {
  const valid = series.points.filter((point) => point.valid);
  const change = series.changes.at(-1);
  const level = series.levels.at(-1);
  return [
    metricText(series),
    String(valid.length),
    valueText(
      valid.slice(-1).map((point) => point.value),
      series.unit,
    ),
    level === undefined ? MISSING : valueText([level.median], series.unit),
    change === undefined ? MISSING : `${shareText(change.shift)} ${change.worse ? 'worse' : 'better'}`,
    change === undefined ? '' : sinceText(change),
  ];
}
