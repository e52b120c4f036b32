// Figure: where the learner's time goes, per tier. A long `wait` says that the environments are the limit, a long `train` the learner.
import * as Plot from '@observablehq/plot';
import type { TierResult } from '../../../harness/contract/run-record.js';
import { DEFINITIONS } from '../../stats/definitions.js';
import { envsLabel, xMarks } from '../axes.js';
import { colourAt, drawSvg, type Figure, rowLayout, SMALL_WIDTH } from '../figure.js';

const TICKS = [0, 0.5, 1];

/** Undefined when no phase was timed. */
export function phasesFigure(measured: readonly TierResult[]): Figure | undefined {
  const timed = measured.filter((tier) => Object.values(tier.phase_seconds).some((seconds) => seconds > 0));
  if (timed.length === 0) return undefined;
  const phases = [...new Set(timed.flatMap((tier) => Object.keys(tier.phase_seconds)))];
  const colours = phases.map((phase, i) => (phase === 'wait' ? 'var(--idle)' : colourAt(i)));
  const bars = timed.flatMap((tier) => {
    const seconds = phases.map((phase) => Math.max(0, tier.phase_seconds[phase] ?? 0));
    const sum = seconds.reduce((a, b) => a + b, 0);
    let from = 0;
    return phases.map((phase, i) => {
      const share = (seconds[i] ?? 0) / sum;
      from += share;
      return { tier: String(tier.tier), phase, share, from: from - share, to: from };
    });
  });
  const byName = new Map(timed.map((tier) => [String(tier.tier), tier]));
  const layout = rowLayout(timed.length, 54);
  const svg = drawSvg(
    {
      width: SMALL_WIDTH,
      height: layout.height,
      marginTop: 8,
      marginLeft: 54,
      x: { domain: [0, 1] },
      y: { type: 'band', domain: [...byName.keys()], padding: layout.padding },
      color: { domain: phases, range: colours },
      marks: [
        ...xMarks('share of the learner\u2019s time', TICKS, (share: number) => `${share * 100} %`),
        Plot.axisY({ tickSize: 0, text: (name: string) => envsLabel(byName.get(name)?.envs ?? 0), label: null, fill: 'var(--muted)' }),
        Plot.barX(bars, { x1: 'from', x2: 'to', y: 'tier', fill: 'phase', insetLeft: 0.5, insetRight: 0.5 }),
        Plot.text(
          bars.filter((bar) => bar.share >= 0.13),
          {
            x: (bar: { from: number; to: number }) => (bar.from + bar.to) / 2,
            y: 'tier',
            text: (bar: { share: number }) => `${Math.round(bar.share * 100)} %`,
            fill: 'var(--on-colour)',
            fontWeight: 600,
          },
        ),
      ],
    },
    `The learner's time by phase: ${timed.map((tier) => `${tier.envs} environments: ${phases.map((phase) => `${phase} ${(tier.phase_seconds[phase] ?? 0).toFixed(1)} s`).join(', ')}`).join('; ')}`,
  );
  return {
    title: 'Where the learner\u2019s time goes',
    note: DEFINITIONS.phases,
    svg,
    legend: phases.map((phase, i) => ({ name: phase, colour: colours[i] ?? 'var(--ink)' })),
  };
}
