// Figure: how long a tier takes until it produces anything, and until all of it lives.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { formatSeconds } from '../../quantity.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { formatTimeTick, timeTicks } from '../../stats/ticks.js';
import { envsLabel, xMarks } from '../axes.js';
import { drawSvg, type Figure, rowLayout, SMALL_WIDTH } from '../figure.js';

/** Undefined when neither time is known of any tier. */
export function startUpFigure(tiers: readonly TierResult[]): Figure | undefined {
  const known = tiers.filter((tier) => tier.time_to_all_live_s !== null || tier.time_to_first_batch_s !== null);
  if (known.length === 0) return undefined;
  const high = Math.max(0.01, ...known.flatMap((tier) => [tier.time_to_all_live_s ?? 0, tier.time_to_first_batch_s ?? 0])) * 1.3;
  const byName = new Map(tiers.map((tier) => [String(tier.tier), tier]));
  const names = [...byName.keys()];
  const layout = rowLayout(names.length, 54);
  const svg = drawSvg(
    {
      width: SMALL_WIDTH,
      height: layout.height,
      marginTop: 8,
      marginLeft: 54,
      x: { domain: [0, high] },
      y: { type: 'band', domain: names, padding: layout.padding },
      marks: [
        Plot.gridX(timeTicks(high, 3), { stroke: 'var(--grid)', strokeOpacity: 1 }),
        ...xMarks('after the start of the tier', timeTicks(high, 3), formatTimeTick),
        Plot.axisY({ tickSize: 0, text: (name: string) => envsLabel(byName.get(name)?.envs ?? 0), label: null, fill: 'var(--muted)' }),
        Plot.barX(known, {
          x: (tier: TierResult) => tier.time_to_all_live_s ?? 0,
          y: (tier: TierResult) => String(tier.tier),
          fill: 'var(--c1)',
          fillOpacity: 0.55,
          rx2: 2,
          ry2: 2,
        }),
        Plot.dot(
          known.filter((tier) => tier.time_to_first_batch_s !== null),
          {
            x: 'time_to_first_batch_s',
            y: (tier: TierResult) => String(tier.tier),
            r: 4.5,
            fill: 'var(--c3)',
            stroke: 'var(--card)',
            strokeWidth: 1.5,
          },
        ),
        Plot.text([...tiers], {
          x: (tier: TierResult) => Math.max(tier.time_to_all_live_s ?? 0, tier.time_to_first_batch_s ?? 0),
          y: (tier: TierResult) => String(tier.tier),
          text: (tier: TierResult) => (tier.time_to_all_live_s === null ? 'never all live' : formatSeconds(tier.time_to_all_live_s)),
          dx: 9,
          textAnchor: 'start',
          fill: 'var(--ink)',
          fontWeight: 600,
        }),
        Plot.ruleX([0], { stroke: 'var(--axis)' }),
      ],
    },
    `Start-up: ${tiers.map((tier) => `${tier.envs} environments: first batch after ${formatSeconds(tier.time_to_first_batch_s)}, all live after ${formatSeconds(tier.time_to_all_live_s)}`).join('; ')}`,
  );
  return {
    title: 'Start-up',
    note: `${DEFINITIONS.firstBatch}. ${DEFINITIONS.allLive}`,
    svg,
    legend: [
      { name: 'first batch', colour: 'var(--c3)', mark: 'dot' },
      { name: 'all live', colour: 'color-mix(in srgb, var(--c1) 55%, transparent)' },
    ],
  };
}
