// Figure: the latency spectrum of each tier. Read it from the right: how long does the slowest one in a hundred, in ten thousand wait?
import * as Plot from '@observablehq/plot';
import { sampleCount } from '../../../harness/contract/latency.js';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { formatCount, oneLine } from '../../quantity.js';
import { SPECTRUM_FROM, spectrumOf, spectrumTicks } from '../../stats/spectrum.js';
import { logTicks } from '../../stats/ticks.js';
import { xMarks, yMarks } from '../axes.js';
import { drawSvg, type Figure, rampColours } from '../figure.js';
import { shortMicros } from './latency.js';

/** Undefined when no tier has a histogram. */
export function spectrumFigure(measured: readonly TierResult[]): Figure | undefined {
  const curves = measured
    .map((tier) => ({ tier, points: spectrumOf(tier.latency_histogram).filter((point) => point.valueUs > 0) }))
    .filter((curve) => curve.points.length > 1);
  if (curves.length === 0) return undefined;
  const values = curves.flatMap((curve) => curve.points.map((point) => point.valueUs));
  const low = Math.min(...values) / 1.2;
  const high = Math.max(...values) * 1.2;
  const maxOneIn = Math.max(...curves.flatMap((curve) => curve.points.map((point) => point.oneIn)));
  const ticks = spectrumTicks(maxOneIn);
  const names = new Map(ticks);
  const ramp = rampColours(curves.length);
  const svg = drawSvg(
    {
      marginLeft: 62,
      x: { type: 'log', domain: [SPECTRUM_FROM, maxOneIn] },
      y: { type: 'log', domain: [low, high] },
      marks: [
        Plot.gridX(
          ticks.map(([at]) => at),
          { stroke: 'var(--grid)', strokeOpacity: 1 },
        ),
        ...yMarks('step latency (log)', logTicks(low, high), shortMicros),
        ...xMarks(
          'share of frames at most this slow',
          ticks.map(([at]) => at),
          (at: number) => names.get(at) ?? '',
        ),
        Plot.ruleY([low], { stroke: 'var(--axis)' }),
        ...curves.map(({ points }, i) =>
          Plot.lineY(points, { x: 'oneIn', y: 'valueUs', stroke: ramp[i] ?? 'var(--ink)', strokeWidth: 2.25 }),
        ),
      ],
    },
    `Percentile spectrum of the step latency of ${curves.length} tiers`,
  );
  return {
    title: 'Latency spectrum',
    note: `each tier\u2019s own histogram, every frame of the measured time (${curves.map(({ tier }) => formatCount(sampleCount(tier.latency_histogram))).join(', ')} frames), drawn as far as ten frames stand behind a point`,
    svg,
    legend: curves.map(({ tier }, i) => ({ name: oneLine(tier.label, 24), colour: ramp[i] ?? 'var(--ink)', mark: 'line' })),
  };
}
