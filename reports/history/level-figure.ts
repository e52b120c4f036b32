// Figure: one metric over the runs of a history, its levels drawn through them. The axis spans what was measured, not from zero: levels a
// few percent apart are what a history is looked at for, and every mark carries its number.
import * as Plot from '@observablehq/plot';
import { metricText } from '../compare/comparison-text.js';
import type { MetricUnit } from '../compare/run-metrics.js';
import { formatBytes, formatMicros, formatSeconds, formatShort } from '../quantity.js';
import { xMarks, yMarks } from '../render/axes.js';
import { drawSvg, type Figure, SMALL_HEIGHT, SMALL_WIDTH } from '../render/figure.js';
import { linearTicks } from '../stats/ticks.js';
import { changeText } from './history-text.js';
import type { Series } from './series.js';

const TICK_FORMATS: Readonly<Record<MetricUnit, (value: number) => string>> = {
  rate: formatShort,
  micros: formatMicros,
  seconds: formatSeconds,
  bytes: formatBytes,
  count: formatShort,
};

const UNIT_LABELS: Readonly<Record<MetricUnit, string>> = {
  rate: 'per second',
  micros: 'latency',
  seconds: 'time',
  bytes: 'bytes',
  count: 'count',
};

/** Round values from at most `low` to at least `high`. */
export function spanTicks(low: number, high: number): number[] {
  const step = linearTicks(high - low, 4)[1] ?? 1;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Whole run numbers for the axis, at most some five. */
function runTicks(count: number): number[] {
  const step = Math.max(1, Math.ceil(count / 5));
  return Array.from({ length: Math.floor((count - 1) / step) + 1 }, (_, i) => 1 + i * step);
}

/** Undefined for fewer than two runs and for a metric that never moved. */
export function levelFigure(series: Series): Figure | undefined {
  const values = series.points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (series.points.length < 2 || low === high) return undefined;
  // At least a tenth of the value, so that noise does not fill the frame and look like news.
  const room = Math.max(0, 0.1 * Math.abs(high) - (high - low)) / 2;
  const ticks = spanTicks(low < 0 ? low - room : Math.max(0, low - room), high + room);
  const points = series.points.map((point, i) => ({ ...point, number: i + 1 }));
  const lines = series.levels.flatMap(({ from, to, median }, level) => [
    { level, number: from + 0.6, median },
    { level, number: to + 0.4, median },
  ]);
  const svg = drawSvg(
    {
      width: SMALL_WIDTH,
      height: SMALL_HEIGHT,
      marginLeft: 62,
      x: { domain: [0.5, points.length + 0.5] },
      y: { domain: [ticks[0] ?? low, ticks.at(-1) ?? high] },
      marks: [
        ...yMarks(UNIT_LABELS[series.unit], ticks, TICK_FORMATS[series.unit]),
        ...xMarks('runs, oldest first', runTicks(points.length), String),
        Plot.lineY(lines, { x: 'number', y: 'median', z: 'level', stroke: 'var(--c1)', strokeWidth: 2 }),
        Plot.dot(points, {
          x: 'number',
          y: 'value',
          r: 3,
          stroke: 'var(--c2)',
          fill: (point: { valid: boolean }) => (point.valid ? 'var(--c2)' : 'var(--card)'),
        }),
        Plot.ruleX(series.changes, {
          x: (change: Series['changes'][number]) => series.points.indexOf(change.point) + 0.5,
          stroke: (change: Series['changes'][number]) => (change.worse ? 'var(--bad)' : 'var(--good)'),
          strokeDasharray: '3 3',
        }),
      ],
    },
    `${metricText(series)} over ${points.length} runs${series.changes.map((change) => `; ${changeText(change)}`).join('')}`,
  );
  const note = series.changes.length === 0 ? 'No change of level found' : series.changes.map(changeText).join('. ');
  return {
    title: metricText(series),
    note,
    svg,
    legend: [
      { name: 'run', colour: 'var(--c2)', mark: 'dot' },
      { name: 'level', colour: 'var(--c1)', mark: 'line' },
    ],
  };
}
