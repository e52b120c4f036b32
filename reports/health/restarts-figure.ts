// Figure: what was started again and why, over the run's time, and under it what the run made of it: the throughput on the same axis.
import * as Plot from '@observablehq/plot';
import type { HealthReport } from '../../harness/contract/health-report.js';
import type { MetricsLine } from '../../harness/contract/metrics.js';
import { formatCount, formatShort, oneLine } from '../quantity.js';
import { baseline, xMarks, yMarks } from '../render/axes.js';
import { colourAt, drawSvg, type Figure } from '../render/figure.js';
import { formatTimeTick, linearTicks, timeTicks } from '../stats/ticks.js';
import { ratesOf } from '../stats/timeline.js';

const MAX_CAUSES = 6;
const LEFT = 52;
const TOP_HEIGHT = 170;
const UNDER_HEIGHT = 150;
/** A bar is at least this share of the axis: a single death in six days must be seen. */
const LEAST_WIDTH = 1 / 200;

interface Bar {
  readonly x1: number;
  readonly x2: number;
  readonly y1: number;
  readonly y2: number;
  readonly colour: string;
}

type Causes = HealthReport['restarts']['causes'];

/** The most frequent ones, and the rest as one. */
function shownCauses(causes: Causes): Causes {
  if (causes.length <= MAX_CAUSES) return causes;
  const rest = causes.slice(MAX_CAUSES - 1);
  const counts = Array.from({ length: Math.max(...rest.map((cause) => cause.counts.length)) }, (_, i) =>
    rest.reduce((sum, cause) => sum + (cause.counts[i] ?? 0), 0),
  );
  return [...causes.slice(0, MAX_CAUSES - 1), { cause: 'other', total: rest.reduce((sum, { total }) => sum + total, 0), counts }];
}

function barsOf(causes: Causes, bucketS: number, end: number): Bar[] {
  const bars: Bar[] = [];
  const buckets = Math.max(0, ...causes.map(({ counts }) => counts.length));
  for (let i = 0; i < buckets; i++) {
    let from = 0;
    for (const [at, { counts }] of causes.entries()) {
      const times = counts[i] ?? 0;
      if (times === 0) continue;
      const x1 = i * bucketS;
      bars.push({
        x1,
        x2: Math.min(end, Math.max(x1 + bucketS, x1 + end * LEAST_WIDTH)),
        y1: from,
        y2: from + times,
        colour: colourAt(at),
      });
      from += times;
    }
  }
  return bars;
}

/** Undefined when nothing was started again. */
export function restartsFigure({ restarts, suspended, run_s }: HealthReport, metrics: readonly MetricsLine[]): Figure | undefined {
  const causes = shownCauses(restarts.causes);
  if (causes.length === 0) return undefined;
  const end = Math.max(run_s, metrics.at(-1)?.t_s ?? 0, 1);
  const bars = barsOf(causes, restarts.bucket_s, end);
  const ticks = linearTicks(Math.max(1, ...bars.map(({ y2 }) => y2)), 3).filter(Number.isInteger);
  const held = suspended.intervals.map(({ from_s, seconds }) => ({
    x1: from_s,
    x2: Math.min(end, Math.max(from_s + seconds, from_s + end * LEAST_WIDTH)),
  }));
  const x = { domain: [0, end] };
  const bands = (top: number) =>
    held.length === 0 ? [] : [Plot.rect(held, { x1: 'x1', x2: 'x2', y1: 0, y2: top, fill: 'var(--idle)', fillOpacity: 0.5 })];
  const top = drawSvg(
    {
      height: TOP_HEIGHT,
      marginLeft: LEFT,
      marginBottom: 18,
      x: { ...x, axis: null },
      y: { domain: [0, ticks.at(-1) ?? 1] },
      marks: [
        ...bands(ticks.at(-1) ?? 1),
        ...yMarks(`restarts in ${formatTimeTick(restarts.bucket_s)}`, ticks, formatShort),
        Plot.rect(bars, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: 'colour', inset: 0.3 }),
        baseline(),
      ],
    },
    `Restarts by cause over the run's time: ${causes.map(({ cause, total }) => `${total} ${oneLine(cause, 40)}`).join(', ')}`,
  );
  const rates = ratesOf(metrics);
  const sps = linearTicks(Math.max(1, ...rates.map((rate) => rate.samplingSps)), 3);
  const under =
    rates.length < 2
      ? ''
      : drawSvg(
          {
            height: UNDER_HEIGHT,
            marginLeft: LEFT,
            x,
            y: { domain: [0, sps.at(-1) ?? 1] },
            marks: [
              ...bands(sps.at(-1) ?? 1),
              ...yMarks('steps per second', sps, formatShort),
              ...xMarks('run time', timeTicks(end), formatTimeTick),
              baseline(),
              Plot.lineY(rates, { x: 't', y: 'samplingSps', stroke: 'var(--ink)', strokeWidth: 1.5 }),
            ],
          },
          'Steps per second on the same axis',
        );
  return {
    title: 'Restarts by cause, and the throughput under them',
    note: `processes started again and envs built anew, each stretch of ${formatTimeTick(restarts.bucket_s)}${held.length === 0 ? '' : '; grey: the machine itself was late and nothing was killed'}`,
    svg: `${top}${under}`,
    legend: causes.map(({ cause, total }, i) => ({ name: `${oneLine(cause, 28)}: ${formatCount(total)}`, colour: colourAt(i) })),
  };
}
