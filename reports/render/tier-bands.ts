// Tiers as bands of an axis: one unique name each (two tiers may share a label), marked by their environments, thinned when crowded.
import type * as Plot from '@observablehq/plot';
import type { TierResult } from '../../harness/contract/run-record.js';
import { envsLabel, xMarks } from './axes.js';

export interface TierBands {
  readonly names: readonly string[];
  readonly xMarks: Plot.Markish[];
}

/** `maxNames` is how many fit side by side. */
export function tierBands(tiers: readonly TierResult[], maxNames: number): TierBands {
  const names = tiers.map((tier) => String(tier.tier));
  const every = Math.ceil(tiers.length / maxNames);
  const shown = names.filter((_, i) => (tiers.length - 1 - i) % every === 0);
  return { names, xMarks: xMarks('environments live', shown, (name: string) => envsLabel(tiers[names.indexOf(name)]?.envs ?? 0)) };
}
