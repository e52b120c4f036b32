// The verdict on each claim, from the raw samples and the rule that was fixed before they were taken. `held` when the 95 % interval of every
// rule lies wholly on the claimed side of its bound, `did not hold` when one lies wholly beyond it, else `not testable here`. Pure and seeded.
import type { ClaimEntry, ClaimMetric, ClaimRule, ClaimSide, ClaimsRecord } from '../../harness/contract/claims-record.js';
import type { Interval } from '../stats/bootstrap.js';
import { seedOf } from '../stats/seeded-random.js';
import { compareToBound, type Middle, middleOf, type RatioOf, ratioOf, ratioToBound } from './estimates.js';

export const CLAIM_VERDICTS = ['held', 'did not hold', 'not testable here', 'failed'] as const;
export type ClaimVerdict = (typeof CLAIM_VERDICTS)[number];

/** Whether one inequality is true of what was measured; `open`: its interval reaches across the bound. */
export type RuleHolds = 'yes' | 'no' | 'open';

export interface JudgedRule {
  readonly rule: ClaimRule;
  readonly metric: ClaimMetric;
  readonly holds: RuleHolds;
  /** Ratio or value; null when a side was not measured. */
  readonly found: number | null;
  readonly interval: Interval | null;
}

export interface JudgedSide {
  readonly side: ClaimSide;
  /** Null: not measured. */
  readonly middle: Middle | null;
  readonly n: number;
}

export interface JudgedMetric {
  readonly metric: ClaimMetric;
  readonly sides: readonly JudgedSide[];
}

export interface JudgedClaim {
  readonly entry: ClaimEntry;
  readonly verdict: ClaimVerdict;
  /** One sentence: what decided. */
  readonly why: string;
  readonly rules: readonly JudgedRule[];
  readonly metrics: readonly JudgedMetric[];
  /** First side against the second, of the first metric that both have. */
  readonly ratio: RatioOf | null;
  /** Most repeats of a side. */
  readonly n: number;
}

function judgeRule(entry: ClaimEntry, rule: ClaimRule, seed: number): JudgedRule | null {
  const metric = entry.registered.metrics.find(({ id }) => id === rule.metric);
  if (metric === undefined) return null;
  const side = entry.samples[rule.metric]?.[rule.side] ?? [];
  const own = seedOf(`${entry.id} ${rule.metric} ${rule.side}`, seed);
  if (rule.type === 'value') return { rule, metric, ...compareToBound(side, metric.kind, rule, own) };
  const to = entry.samples[rule.metric]?.[rule.to] ?? [];
  return { rule, metric, ...ratioToBound(side, to, metric.kind, rule, own, entry.registered.paired) };
}

function metricsOf(entry: ClaimEntry, seed: number): JudgedMetric[] {
  return entry.registered.metrics.map((metric) => ({
    metric,
    sides: entry.registered.sides.map((side) => {
      const values = entry.samples[metric.id]?.[side.name] ?? [];
      return { side, middle: middleOf(values, metric.kind, seedOf(`${entry.id} ${metric.id} ${side.name}`, seed)), n: values.length };
    }),
  }));
}

/** The two sides that a reader compares first: those of the first rule that names two, else the first two of the first metric. */
function ratioShown(entry: ClaimEntry, seed: number): RatioOf | null {
  const named = entry.registered.rules.find((rule) => rule.type === 'ratio');
  const [first, second] = entry.registered.sides;
  const [metric, side, to] =
    named === undefined ? [entry.registered.metrics[0]?.id, first?.name, second?.name] : [named.metric, named.side, named.to];
  if (metric === undefined || side === undefined || to === undefined) return null;
  const kind = entry.registered.metrics.find(({ id }) => id === metric)?.kind ?? 'time';
  const valuesOf = (name: string) => entry.samples[metric]?.[name] ?? [];
  return ratioOf(side, valuesOf(side), to, valuesOf(to), kind, seedOf(`${entry.id} ratio`, seed), entry.registered.paired);
}

function decide(entry: ClaimEntry, rules: readonly (JudgedRule | null)[]): { verdict: ClaimVerdict; why: string } {
  if (entry.state === 'failed') return { verdict: 'failed', why: `it could not be measured: ${entry.reason}` };
  if (entry.state === 'not-testable') return { verdict: 'not testable here', why: entry.reason };
  const cut = entry.state === 'cut' ? ` (cut short: ${entry.reason})` : '';
  const against = rules.filter((rule) => rule?.holds === 'no').length;
  const open = rules.filter((rule) => rule === null || rule.holds === 'open').length;
  if (against > 0)
    return {
      verdict: 'did not hold',
      why:
        rules.length === 1
          ? `its rule is broken${cut}`
          : `${against} of ${rules.length} rules ${against === 1 ? 'is' : 'are'} broken${cut}`,
    };
  if (open === 0)
    return {
      verdict: 'held',
      why: rules.length === 1 ? `its rule holds${cut}` : `${rules.length === 2 ? 'both' : `all ${rules.length}`} rules hold${cut}`,
    };
  const unmeasured = rules.filter((rule) => rule === null || rule.found === null).length;
  return {
    verdict: 'not testable here',
    why:
      unmeasured > 0
        ? `nothing was measured that decides it${cut}`
        : `not decided: the interval reaches across the bound; take more repeats (--repeats) on a quieter machine${cut}`,
  };
}

export function judgeClaim(entry: ClaimEntry, seed: number): JudgedClaim {
  const rules = entry.registered.rules.map((rule) => judgeRule(entry, rule, seed));
  const metrics = metricsOf(entry, seed);
  return {
    entry,
    ...decide(entry, rules),
    rules: rules.filter((rule) => rule !== null),
    metrics,
    ratio: ratioShown(entry, seed),
    n: Math.max(0, ...metrics.flatMap(({ sides }) => sides.map((side) => side.n))),
  };
}

export interface JudgedClaims {
  readonly record: ClaimsRecord;
  readonly claims: readonly JudgedClaim[];
  readonly counts: Readonly<Record<ClaimVerdict, number>>;
}

export function judgeClaims(record: ClaimsRecord): JudgedClaims {
  const claims = record.claims.map((entry) => judgeClaim(entry, record.seed));
  const counts = Object.fromEntries(
    CLAIM_VERDICTS.map((verdict) => [verdict, claims.filter((claim) => claim.verdict === verdict).length]),
  ) as Record<ClaimVerdict, number>;
  return { record, claims, counts };
}
