// Axes as every figure has them: quiet grid, no tick strokes, unit named at the end of the axis, tiers marked where they are.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../harness/contract/run-record.js';
import { formatCount, formatShort } from '../quantity.js';
import { spacedIndices } from '../stats/ticks.js';
import { FIGURE_WIDTH } from './figure.js';

// `text`, not `tickFormat`: on logarithmic scales Plot passes the latter on to d3, which leaves out what is no power of ten.
const GRID = { stroke: 'var(--grid)', strokeOpacity: 1 } as const;
const LABEL = { labelArrow: 'none', fill: 'var(--muted)' } as const;

export function yMarks(label: string, ticks: readonly number[], format: (value: number) => string): Plot.Markish[] {
  return [
    Plot.gridY([...ticks], GRID),
    Plot.axisY([...ticks], { ...LABEL, tickSize: 0, tickPadding: 6, text: format, label, labelAnchor: 'top' } as Plot.AxisYOptions),
  ];
}

export function xMarks(label: string | null, ticks: readonly (number | string)[], format: (value: never) => string): Plot.Markish[] {
  return [
    Plot.axisX([...ticks], {
      ...LABEL,
      tickSize: 4,
      stroke: 'var(--axis)',
      text: format as never,
      label,
      labelAnchor: 'right',
      labelOffset: 40,
    } as Plot.AxisXOptions),
  ];
}

/** Rule that a linear axis stands on. */
export function baseline(): Plot.Markish {
  return Plot.ruleY([0], { stroke: 'var(--axis)' });
}

/** Envs of a tier for an axis: whole while short, else 1.5M. */
export function envsLabel(envs: number): string {
  return envs < 100_000 ? formatCount(envs) : formatShort(envs);
}

export interface EnvsAxis {
  readonly scale: Plot.ScaleOptions;
  readonly marks: Plot.Markish[];
}

/** Horizontal axis of environments, marked at the tiers: from 0, or logarithmic when the tiers span more than a factor of 50. */
export function envsAxis(tiers: readonly TierResult[], margins: { readonly left: number; readonly right: number }): EnvsAxis {
  const envs = [...new Set(tiers.map((tier) => tier.envs))].sort((a, b) => a - b);
  const low = envs[0] ?? 1;
  const high = envs.at(-1) ?? 1;
  const log = high / low > 50;
  // A single tier stands in the middle, not at the edge.
  const end = envs.length > 1 ? high : 2 * high;
  const span = FIGURE_WIDTH - margins.left - margins.right;
  const place = (value: number) => (log ? (Math.log(value / low) / Math.log(high / low)) * span : (value / end) * span);
  const ticks = spacedIndices(envs.map(place), 44).map((i) => envs[i] ?? 0);
  return {
    scale: log ? { type: 'log', domain: [low, high] } : { type: 'linear', domain: [0, end] },
    marks: xMarks('environments live', ticks, envsLabel),
  };
}
