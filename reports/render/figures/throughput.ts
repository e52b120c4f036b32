// Figure: steps per second against environments. Where the line bends is what the machine can carry.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { formatRate, formatShort } from '../../quantity.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { linearTicks } from '../../stats/ticks.js';
import { baseline, envsAxis, yMarks } from '../axes.js';
import { drawSvg, type Figure } from '../figure.js';

const MARGINS = { left: 52, right: 26 };

/** Undefined when no tier was measured. */
export function throughputFigure(measured: readonly TierResult[]): Figure | undefined {
  if (measured.length === 0) return undefined;
  const trains = measured.some((tier) => tier.training_sps > 0);
  const high = Math.max(1, ...measured.map((tier) => tier.sampling_sps));
  const ticks = linearTicks(high);
  // Drawn apart only where they can be told apart: without drops, goodput is what was trained.
  const merged = trains && measured.every((tier) => Math.abs(tier.goodput_sps - tier.training_sps) <= 0.004 * high);
  const axis = envsAxis(measured, MARGINS);
  const line = (value: (tier: TierResult) => number, stroke: string, dash: string | undefined, r: number) => [
    Plot.lineY([...measured], { x: 'envs', y: value, stroke, strokeWidth: 2.25, ...(dash === undefined ? {} : { strokeDasharray: dash }) }),
    Plot.dot([...measured], { x: 'envs', y: value, r, fill: dash === undefined ? stroke : 'var(--card)', stroke, strokeWidth: 2 }),
  ];
  const svg = drawSvg(
    {
      marginLeft: MARGINS.left,
      marginRight: MARGINS.right,
      x: axis.scale,
      y: { domain: [0, ticks.at(-1) ?? high] },
      marks: [
        ...yMarks('steps per second', ticks, formatShort),
        ...axis.marks,
        baseline(),
        ...line((tier) => tier.sampling_sps, 'var(--c1)', undefined, 4),
        ...(trains ? line((tier) => tier.training_sps, 'var(--c2)', undefined, 4.5) : []),
        ...(merged ? [] : line((tier) => tier.goodput_sps, 'var(--c3)', '5 4', 3)),
        ...(measured.length === 1
          ? [
              Plot.text([...measured], {
                x: 'envs',
                y: 'sampling_sps',
                text: (tier: TierResult) => formatRate(tier.sampling_sps),
                dx: -10,
                textAnchor: 'end',
                fill: 'var(--ink)',
                fontWeight: 600,
              }),
            ]
          : []),
      ],
    },
    `Steps per second against environments: ${measured.map((tier) => `${tier.envs}: ${formatRate(tier.sampling_sps)} sampled, ${formatRate(tier.training_sps)} trained`).join('; ')}`,
  );
  return {
    title: 'Throughput',
    note: [DEFINITIONS.sampling, ...(trains ? [DEFINITIONS.training] : []), DEFINITIONS.goodput].join('. '),
    svg,
    legend: [
      { name: 'sampling', colour: 'var(--c1)', mark: 'line' },
      ...(trains ? [{ name: merged ? 'training, goodput' : 'training', colour: 'var(--c2)', mark: 'line' } as const] : []),
      ...(merged ? [] : [{ name: 'goodput', colour: 'var(--c3)', mark: 'dash' } as const]),
    ],
  };
}
