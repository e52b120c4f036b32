// Figure: percentiles of the step latency against environments, on a logarithmic scale since tails are what matters.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { formatMicros } from '../../quantity.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { logTicks } from '../../stats/ticks.js';
import { envsAxis, yMarks } from '../axes.js';
import { drawSvg, type Figure, rampColours } from '../figure.js';

const MARGINS = { left: 62, right: 26 };
const RANKS = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p99.9', 'p999'],
  ['max', 'max'],
] as const;

interface Point {
  readonly envs: number;
  readonly value: number;
}

/** Undefined when no tier has a latency. */
export function latencyFigure(measured: readonly TierResult[]): Figure | undefined {
  const lines = RANKS.map(([name, key]) => ({
    name,
    points: measured.flatMap((tier): Point[] => {
      const value = tier.step_latency_us[key];
      return value !== null && value > 0 ? [{ envs: tier.envs, value }] : [];
    }),
  })).filter((line) => line.points.length > 0);
  if (lines.length === 0) return undefined;
  const values = lines.flatMap((line) => line.points.map((point) => point.value));
  const low = Math.min(...values) / 1.4;
  const high = Math.max(...values) * 1.4;
  const axis = envsAxis(measured, MARGINS);
  const ramp = [...rampColours(4), 'var(--muted)'];
  const colourOf = (name: string) => ramp[RANKS.findIndex(([rank]) => rank === name)] ?? 'var(--ink)';
  const svg = drawSvg(
    {
      marginLeft: MARGINS.left,
      marginRight: MARGINS.right,
      x: axis.scale,
      y: { type: 'log', domain: [low, high] },
      marks: [
        ...yMarks('step latency (log)', logTicks(low, high), shortMicros),
        ...axis.marks,
        Plot.ruleY([low], { stroke: 'var(--axis)' }),
        ...lines.flatMap(({ name, points }) => [
          Plot.lineY(points, {
            x: 'envs',
            y: 'value',
            stroke: colourOf(name),
            strokeWidth: name === 'max' ? 1.25 : 2.25,
            ...(name === 'max' ? { strokeDasharray: '2 4' } : {}),
          }),
          Plot.dot(points, { x: 'envs', y: 'value', r: name === 'max' ? 2.5 : 3.5, fill: colourOf(name) }),
        ]),
      ],
    },
    `Step latency against environments: ${measured.map((tier) => `${tier.envs}: median ${formatMicros(tier.step_latency_us.p50)}, p99 ${formatMicros(tier.step_latency_us.p99)}`).join('; ')}`,
  );
  return {
    title: 'Step latency',
    note: DEFINITIONS.latency,
    svg,
    legend: lines.map(({ name }) => ({ name, colour: colourOf(name), mark: name === 'max' ? ('dash' as const) : ('line' as const) })),
  };
}

/** Round values of an axis: 200 µs, 5 ms, 1 s. */
export function shortMicros(value: number): string {
  const [size, unit] = value < 1_000 ? [value, 'µs'] : value < 1_000_000 ? [value / 1_000, 'ms'] : [value / 1_000_000, 's'];
  return `${Number(size.toPrecision(3))} ${unit}`;
}
