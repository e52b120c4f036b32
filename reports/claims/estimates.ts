// Middles, ratios and their 95 % intervals, by kind of metric. Times and rates: the median, and the ratio by Hodges and Lehmann on logarithms,
// so that a few disturbed repeats carry little weight. Counts and shares, where a rare event is the finding: the mean. Where the repeats of two
// sides belong together, ratios are taken within them. Pure and seeded.
import type { ClaimMetric, ClaimRule } from '../../harness/contract/claims-record.js';
import { bootstrapInterval, type Interval } from '../stats/bootstrap.js';
import { hodgesLehmann } from '../stats/hodges-lehmann.js';
import { median } from '../stats/median.js';

type Kind = ClaimMetric['kind'];

/** Below it a spread is a guess, and nothing is decided. */
export const MIN_VALUES = 3;

export interface Middle {
  readonly value: number;
  /** Null with fewer than MIN_VALUES values. */
  readonly interval: Interval | null;
}

export interface RatioOf extends Middle {
  readonly side: string;
  readonly to: string;
}

export interface Compared {
  readonly holds: 'yes' | 'no' | 'open';
  readonly found: number | null;
  readonly interval: Interval | null;
}

const NOTHING: Compared = { holds: 'open', found: null, interval: null };

function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}

const centre = (kind: Kind) => (kind === 'time' || kind === 'rate' ? median : mean);
const rising = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const allPositive = (values: readonly number[]): boolean => values.every((value) => value > 0);

function intervalOf(
  base: readonly number[],
  values: readonly number[],
  statistic: (base: ArrayLike<number>, values: ArrayLike<number>) => number,
  seed: number,
): Interval | null {
  return Math.min(base.length, values.length) < MIN_VALUES ? null : bootstrapInterval(base, values, statistic, { seed });
}

/** Null without values. */
export function middleOf(values: readonly number[], kind: Kind, seed: number): Middle | null {
  if (values.length === 0) return null;
  const of = centre(kind);
  const sorted = rising(values);
  return { value: of(sorted), interval: intervalOf(sorted, sorted, (_, drawn) => of(drawn), seed) };
}

/** Hodges and Lehmann's middle of one sample: the median of all means of two of its values. */
function pseudoMedian(values: ArrayLike<number>): number {
  return (
    hodgesLehmann(
      Array.from(values, (value) => -value),
      values,
    ) / 2
  );
}

/** As ratioOf, of values that belong together one by one; those without a partner are left out. */
function pairedRatio(values: readonly number[], base: readonly number[], kind: Kind, seed: number): Middle {
  const pairs = Array.from({ length: Math.min(values.length, base.length) }, (_, i) => [values[i], base[i]] as [number, number]);
  // In an order of their own, so that resampling depends on what was measured and not on the order it was taken in.
  pairs.sort(([a, b], [c, d]) => a / b - c / d || a - c);
  if ((kind === 'time' || kind === 'rate') && pairs.every(([value]) => value > 0)) {
    const logs = pairs.map(([value, of]) => Math.log(value / of));
    const found = intervalOf(logs, logs, (_, drawn) => pseudoMedian(drawn), seed);
    return { value: Math.exp(pseudoMedian(logs)), interval: found && { low: Math.exp(found.low), high: Math.exp(found.high) } };
  }
  const at = pairs.map((_, i) => i);
  const of = (drawn: ArrayLike<number>): number => {
    const chosen = Array.from(drawn, (i) => pairs[i] as [number, number]);
    return mean(chosen.map(([value]) => value)) / mean(chosen.map(([, base]) => base));
  };
  return { value: of(at), interval: intervalOf(at, at, (_, drawn) => of(drawn), seed) };
}

/** `side` over `to`; null when either has no values or `to` may be 0. */
export function ratioOf(
  side: string,
  values: readonly number[],
  to: string,
  base: readonly number[],
  kind: Kind,
  seed: number,
  paired = false,
): RatioOf | null {
  if (values.length === 0 || base.length === 0 || !allPositive(base)) return null;
  if (paired) return { side, to, ...pairedRatio(values, base, kind, seed) };
  const [sortedBase, sorted] = [rising(base), rising(values)];
  if ((kind === 'time' || kind === 'rate') && allPositive(values)) {
    const [logBase, log] = [sortedBase.map(Math.log), sorted.map(Math.log)];
    const found = intervalOf(logBase, log, hodgesLehmann, seed);
    const interval = found === null ? null : { low: Math.exp(found.low), high: Math.exp(found.high) };
    return { side, to, value: Math.exp(hodgesLehmann(logBase, log)), interval };
  }
  const of = (base: ArrayLike<number>, drawn: ArrayLike<number>): number => mean(drawn) / mean(base);
  return { side, to, value: of(sortedBase, sorted), interval: intervalOf(sortedBase, sorted, of, seed) };
}

function against(found: number, interval: Interval | null, { relation, bound }: Pick<ClaimRule, 'relation' | 'bound'>): Compared {
  if (interval === null) return { holds: 'open', found, interval };
  const yes = relation === 'at-least' ? interval.low >= bound : interval.high <= bound;
  const no = relation === 'at-least' ? interval.high < bound : interval.low > bound;
  return { holds: yes ? 'yes' : no ? 'no' : 'open', found, interval };
}

/**
 * A side's own value against a bound. "At most 0" of a count or a share is a claim about every repeat: one counter-example breaks it, however
 * wide the interval.
 */
export function compareToBound(values: readonly number[], kind: Kind, rule: Pick<ClaimRule, 'relation' | 'bound'>, seed: number): Compared {
  const middle = middleOf(values, kind, seed);
  if (middle === null) return NOTHING;
  const universal = rule.relation === 'at-most' && rule.bound === 0 && (kind === 'count' || kind === 'share');
  if (universal && values.some((value) => value > 0)) return { holds: 'no', found: middle.value, interval: middle.interval };
  return against(middle.value, middle.interval, rule);
}

/** `values` over `base` against a bound. A base of zeros makes any positive value infinitely larger, and two zeros say nothing. */
export function ratioToBound(
  values: readonly number[],
  base: readonly number[],
  kind: Kind,
  rule: Pick<ClaimRule, 'relation' | 'bound'>,
  seed: number,
  paired = false,
): Compared {
  if (values.length === 0 || base.length === 0) return NOTHING;
  const ratio = ratioOf('', values, '', base, kind, seed, paired);
  if (ratio !== null) return against(ratio.value, ratio.interval, rule);
  // The base may be 0: judge side - bound * base, which needs no division.
  const excess = (drawnBase: ArrayLike<number>, drawn: ArrayLike<number>): number => mean(drawn) - rule.bound * mean(drawnBase);
  const [sortedBase, sorted] = [rising(base), rising(values)];
  const interval = intervalOf(sortedBase, sorted, excess, seed);
  if (mean(base) === 0 && mean(values) === 0) return NOTHING;
  const found = mean(base) === 0 ? null : mean(values) / mean(base);
  const { holds } = against(excess(sortedBase, sorted), interval, { relation: rule.relation, bound: 0 });
  return { holds, found, interval: null };
}
