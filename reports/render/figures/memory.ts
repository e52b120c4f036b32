// Figure: memory of the run by role, per tier. What a tier adds is what an environment costs.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { formatBytes } from '../../quantity.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { totalPss } from '../../stats/headline.js';
import { byteTicks } from '../../stats/ticks.js';
import { baseline, yMarks } from '../axes.js';
import { colourAt, drawSvg, type Figure, SMALL_HEIGHT, SMALL_WIDTH } from '../figure.js';
import { tierBands } from '../tier-bands.js';

/** More totals than this do not fit above their bars. */
const MAX_TOTALS = 4;
const MAX_NAMES = 5;

/** Undefined when no memory was read. */
export function memoryFigure(tiers: readonly TierResult[]): Figure | undefined {
  const read = tiers.filter((tier) => (totalPss(tier) ?? 0) > 0);
  if (read.length === 0) return undefined;
  const roles = [...new Set(read.flatMap((tier) => Object.keys(tier.memory)))];
  const bands = tierBands(read, MAX_NAMES);
  const bars = read.flatMap((tier, i) =>
    roles.map((role) => ({ band: bands.names[i] ?? '', role, bytes: tier.memory[role]?.pss_bytes ?? 0 })),
  );
  const totals = read.map((tier, i) => ({ band: bands.names[i] ?? '', bytes: totalPss(tier) ?? 0 }));
  const ticks = byteTicks(Math.max(...totals.map((total) => total.bytes)) * 1.06);
  const svg = drawSvg(
    {
      width: SMALL_WIDTH,
      height: SMALL_HEIGHT,
      marginLeft: 62,
      x: { type: 'band', domain: [...bands.names], padding: read.length === 1 ? 0.7 : 0.36 },
      y: { domain: [0, ticks.at(-1) ?? 1] },
      color: { domain: roles, range: roles.map((_, i) => colourAt(i)) },
      marks: [
        ...yMarks('memory (PSS)', ticks, (bytes) => (bytes === 0 ? '0' : roundBytes(bytes))),
        ...bands.xMarks,
        Plot.barY(bars, Plot.stackY({ x: 'band', y: 'bytes', fill: 'role', order: roles, insetTop: 0.5, insetBottom: 0.5 })),
        ...(read.length <= MAX_TOTALS
          ? [
              Plot.text(totals, {
                x: 'band',
                y: 'bytes',
                text: (total: { bytes: number }) => formatBytes(total.bytes),
                dy: -9,
                fill: 'var(--ink)',
                fontWeight: 600,
              }),
            ]
          : []),
        baseline(),
      ],
    },
    `Memory by role: ${read.map((tier) => `${tier.envs} environments ${formatBytes(totalPss(tier))}`).join('; ')}`,
  );
  return { title: 'Memory by role', note: DEFINITIONS.memory, svg, legend: roles.map((role, i) => ({ name: role, colour: colourAt(i) })) };
}

/** Round values of an axis: 200 MiB, 2.5 GiB. */
function roundBytes(bytes: number): string {
  const [size, unit] = formatBytes(bytes).split(' ');
  return `${Number((size ?? '').replace(/,/g, ''))} ${unit ?? ''}`;
}
