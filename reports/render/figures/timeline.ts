// Figure: the run as it went, steps per second over the run's time, with the tiers marked. Dips are restarts, growth or a busy machine.
import * as Plot from '@observablehq/plot';
import type { ReportModel } from '../../model.js';
import { formatShort } from '../../quantity.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { formatTimeTick, linearTicks, spacedIndices, timeTicks } from '../../stats/ticks.js';
import { ratesOf, type TierStart, tierStarts } from '../../stats/timeline.js';
import { baseline, envsLabel, xMarks, yMarks } from '../axes.js';
import { drawSvg, FIGURE_WIDTH, type Figure } from '../figure.js';

const MARGIN_LEFT = 52;
const MANY_DEATHS = 40;

/** Undefined when there are fewer than two lines of metrics. */
export function timelineFigure({ record, metrics }: ReportModel): Figure | undefined {
  const rates = ratesOf(metrics);
  const end = metrics.at(-1)?.t_s ?? 0;
  if (rates.length < 2 || end <= 0) return undefined;
  const trains = rates.some((rate) => rate.trainingSps > 0);
  const ticks = linearTicks(Math.max(1, ...rates.map((rate) => rate.samplingSps)));
  const starts = tierStarts(metrics);
  const span = (FIGURE_WIDTH - MARGIN_LEFT - 18) / end;
  const named = spacedIndices(
    starts.map((start) => start.t * span),
    46,
  ).map((i) => starts[i]);
  const died = record.deaths.filter((death) => death.run_s <= end).sort((a, b) => a.run_s - b.run_s);
  // Thousands of rimmed dots would paint each other over: many become small, without a rim, and as dense as can be seen.
  const many = died.length > MANY_DEATHS;
  const deaths = many
    ? spacedIndices(
        died.map((death) => death.run_s * span),
        3,
      ).flatMap((i) => died[i] ?? [])
    : died;
  const dot = many ? { r: 2, fill: 'var(--bad)' } : { r: 5, fill: 'var(--bad)', stroke: 'var(--card)', strokeWidth: 1.5 };
  const svg = drawSvg(
    {
      marginLeft: MARGIN_LEFT,
      marginTop: 40,
      x: { domain: [0, end] },
      y: { domain: [0, ticks.at(-1) ?? 1] },
      marks: [
        ...yMarks('steps per second', ticks, formatShort),
        ...xMarks('run time', timeTicks(end), formatTimeTick),
        Plot.ruleX(starts, { x: 't', stroke: 'var(--axis)', strokeDasharray: '2 3' }),
        Plot.text(named, {
          x: 't',
          frameAnchor: 'top',
          lineAnchor: 'bottom',
          dy: -4,
          dx: -1,
          textAnchor: 'start',
          text: (start: TierStart) => envsLabel(record.tiers[start.tier]?.envs ?? start.envsLive),
          fill: 'var(--muted)',
        }),
        baseline(),
        Plot.lineY(rates, { x: 't', y: 'samplingSps', stroke: 'var(--c1)', strokeWidth: 1.75 }),
        ...(trains ? [Plot.lineY(rates, { x: 't', y: 'trainingSps', stroke: 'var(--c2)', strokeWidth: 1.75 })] : []),
        Plot.dot(deaths, { x: 'run_s', y: 0, ...dot }),
      ],
    },
    `Steps per second over the run's ${Math.round(end)} seconds`,
  );
  return {
    title: 'The run as it went',
    note: `${DEFINITIONS.timeline}. Numbers above the frame: environments of the tier that begins there`,
    svg,
    legend: [
      { name: 'sampling', colour: 'var(--c1)', mark: 'line' },
      ...(trains ? [{ name: 'training', colour: 'var(--c2)', mark: 'line' } as const] : []),
      ...(deaths.length > 0 ? [{ name: 'a process died', colour: 'var(--bad)', mark: 'dot' } as const] : []),
    ],
  };
}
