// Figure: resident memory of every process over its present life. What matters is whether the lines are level; the table below has the slopes.
import * as Plot from '@observablehq/plot';
import type { GrowthRecord, HealthReport } from '../../harness/contract/health-report.js';
import { formatBytes } from '../quantity.js';
import { baseline, xMarks, yMarks } from '../render/axes.js';
import { COLOURS, colourAt, drawSvg, type Figure } from '../render/figure.js';
import { byteTicks, formatTimeTick, timeTicks } from '../stats/ticks.js';

export function processName({ role, worker }: Pick<GrowthRecord, 'role' | 'worker'>): string {
  return worker === null ? role : `${role} ${worker}`;
}

/** Undefined when no process said enough to draw. */
export function growthFigure({ growth, run_s }: HealthReport): Figure | undefined {
  const drawn = growth.filter(({ curve }) => curve.t_s.length > 1);
  if (drawn.length === 0) return undefined;
  const end = Math.max(run_s, ...drawn.map(({ curve }) => curve.t_s.at(-1) ?? 0));
  const crowd = drawn.length > COLOURS.length;
  const colourOf = (i: number) => (crowd ? (drawn[i]?.role === 'learner' ? 'var(--c3)' : 'var(--c1)') : colourAt(i));
  const ticks = byteTicks(Math.max(1, ...drawn.flatMap(({ curve }) => curve.rss_bytes)) * 1.05, 4);
  const svg = drawSvg(
    {
      height: 320,
      marginLeft: 64,
      x: { domain: [0, end] },
      y: { domain: [0, ticks.at(-1) ?? 1] },
      marks: [
        ...yMarks('resident memory (RSS)', ticks, (bytes) => (bytes === 0 ? '0' : formatBytes(bytes).replace(/\.0+ /, ' '))),
        ...xMarks('run time', timeTicks(end), formatTimeTick),
        baseline(),
        ...drawn.map(({ curve }, i) =>
          Plot.lineY(
            curve.t_s.map((t, at) => ({ t, bytes: curve.rss_bytes[at] ?? 0 })),
            { x: 't', y: 'bytes', stroke: colourOf(i), strokeWidth: crowd ? 1.2 : 1.75, strokeOpacity: crowd ? 0.6 : 1 },
          ),
        ),
      ],
    },
    `Resident memory over time: ${drawn
      .slice(0, 20)
      .map((record) => `${processName(record)} ${formatBytes(record.rss_bytes.last)}`)
      .join(', ')}`,
  );
  return {
    title: 'Memory of each process',
    note: 'RSS as each process reports it once a second, its present life; pages of shared memory it has touched count in',
    svg,
    legend: crowd
      ? [
          { name: `${drawn.filter(({ role }) => role === 'worker').length} workers`, colour: 'var(--c1)', mark: 'line' },
          ...(drawn.some(({ role }) => role === 'learner') ? [{ name: 'learner', colour: 'var(--c3)', mark: 'line' } as const] : []),
        ]
      : drawn.map((record, i) => ({ name: processName(record), colour: colourOf(i), mark: 'line' })),
  };
}
