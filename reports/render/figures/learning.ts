// Figures: the learning curve of each kind in the mix, one figure each since returns share no scale.
import * as Plot from '@observablehq/plot';
import type { ReportModel } from '../../model.js';
import { formatReturn, oneLine } from '../../quantity.js';
import { MAX_FIGURES } from '../../stats/shown.js';
import { formatTimeTick, timeTicks } from '../../stats/ticks.js';
import { returnsOf, tierStarts } from '../../stats/timeline.js';
import { xMarks, yMarks } from '../axes.js';
import { colourAt, drawSvg, type Figure, SMALL_WIDTH } from '../figure.js';

/** Kinds without a finished episode have no figure; they are named in the table beside the curves. */
export function learningFigures({ record, metrics }: ReportModel): Figure[] {
  const entries = [
    ...new Set([...record.tiers.flatMap((tier) => Object.keys(tier.kinds)), ...metrics.flatMap((line) => Object.keys(line.kinds))]),
  ].slice(0, MAX_FIGURES);
  const end = metrics.at(-1)?.t_s ?? 0;
  const starts = tierStarts(metrics).slice(1);
  return entries.flatMap((entry, i): Figure[] => {
    const points = returnsOf(metrics, entry);
    if (points.length < 2 || end <= 0) return [];
    const values = points.map((point) => point.value);
    const ticks = niceTicks(Math.min(...values), Math.max(...values));
    const low = ticks[0] ?? 0;
    const svg = drawSvg(
      {
        width: SMALL_WIDTH,
        height: 220,
        marginLeft: 54,
        x: { domain: [0, end] },
        y: { domain: [low, ticks.at(-1) ?? 1] },
        marks: [
          ...yMarks('mean return', ticks, (value) => value.toLocaleString('en-US', { maximumFractionDigits: 6 })),
          ...xMarks('run time', timeTicks(end, 4), formatTimeTick),
          Plot.ruleX(starts, { x: 't', stroke: 'var(--axis)', strokeDasharray: '2 3' }),
          Plot.ruleY([low], { stroke: 'var(--axis)' }),
          Plot.lineY(points, { x: 't', y: 'value', stroke: colourAt(i), strokeWidth: 2 }),
        ],
      },
      `Mean return of ${oneLine(entry, 80)} over the run's time, from ${formatReturn(values[0])} to ${formatReturn(values.at(-1))}`,
    );
    return [{ title: entry, note: `${formatReturn(values[0])} at first, ${formatReturn(values.at(-1))} at last`, svg, legend: [] }];
  });
}

/** About four round steps that enclose [low, high]; a flat curve gets room around it. */
function niceTicks(low: number, high: number): number[] {
  const room = high - low > 1e-9 * Math.max(1, Math.abs(high)) ? 0 : Math.max(0.5, Math.abs(high) * 0.1);
  const from = low - room;
  const rough = (high + room - from) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const first = Math.floor(from / step);
  return Array.from({ length: Math.ceil((high + room) / step - 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
