// Tiers as bands of an axis: one unique name each (two tiers may share a label), marked by their environments, thinned when crowded.
import type * as Plot from '@observablehq/plot';
import type { TierResult } from '../../harness/contract/run-record.js';
import { envsLabel, xMarks } from './axes.js';

/** More names than this do not fit side by side. */
const MAX_NAMES = 8;

export interface TierBands {
  readonly names: readonly string[];
  readonly xMarks: Plot.Markish[];
}

export function tierBands(tiers: readonly TierResult[]): TierBands {
  const names = tiers.map((tier) => String(tier.tier));
  const every = Math.ceil(tiers.length / MAX_NAMES);
  const shown = names.filter((_, i) => (tiers.length - 1 - i) % every === 0);
  return { names, xMarks: xMarks('environments live', shown, (name: string) => envsLabel(tiers[names.indexOf(name)]?.envs ?? 0)) };
}
