// Objectives judged on results: which are met on a tier, which tier holds, what the run as a whole can say. Pure. A result that was not
// measured is neither met nor missed, and a tier with one does not hold: what was not shown is not claimed.
import type { Headline, RunRecord, SloResult, TierResult } from './run-record.js';
import { keeps, type SloRule } from './slo.js';
import { type Measured, metricValue } from './slo-metrics.js';

/** Judges one objective on the tier's own result. */
export function judgeSlo(rule: SloRule, tier: Measured): SloResult {
  const value = metricValue(tier, rule.metric);
  const verdict = value === null ? 'not-measured' : keeps(rule, value) ? 'met' : 'missed';
  return { slo: rule.slo, metric: rule.metric, op: rule.op, limit: rule.limit, value, verdict, aborted: false };
}

/** Whether the tier holds: it is valid, and every objective is met. */
export function tierHolds(tier: Pick<TierResult, 'validity' | 'slos'>): boolean {
  return tier.validity.verdict === 'valid' && tier.slos.every((slo) => slo.verdict === 'met');
}

/** The highest tier that holds, in two words: "holds 5,000". */
export function headlineOf(tiers: readonly Pick<TierResult, 'tier' | 'envs' | 'validity' | 'slos'>[]): Headline {
  let top: Headline = { text: 'holds none', tier: null, envs: 0 };
  for (const tier of tiers) {
    if (tierHolds(tier) && tier.envs > top.envs)
      top = { text: `holds ${tier.envs.toLocaleString('en-US')}`, tier: tier.tier, envs: tier.envs };
  }
  return top;
}

/** Over all tiers: one missed objective is enough, then one that was not measured. */
export function sloVerdictOf(tiers: readonly Pick<TierResult, 'slos'>[]): RunRecord['slo_verdict'] {
  const verdicts = tiers.flatMap((tier) => tier.slos.map((slo) => slo.verdict));
  if (verdicts.length === 0) return 'none';
  return verdicts.includes('missed') ? 'missed' : verdicts.includes('not-measured') ? 'not-measured' : 'met';
}
