// Objectives (SLOs) and machine load of a record in the words of the reports. Records before schema 1.1.0 have none: nothing is shown
// then, so that an old folder renders as it did. Pure.
import type { MachineLoad, RunRecord, SloResult, TierResult } from '../../harness/contract/run-record.js';
import { formatCount, formatPercent, formatRate, MISSING } from '../quantity.js';

/** Objectives shown per table; a plan has far fewer. */
const MAX_SHOWN = 200;

/** The answer to the second question, beside VALID or INVALID; empty when it was not asked. */
export const SLO_WORDS = { met: 'SLO MET', missed: 'SLO MISSED', 'not-measured': 'SLO NOT MEASURED', none: '' } as const satisfies Record<
  RunRecord['slo_verdict'],
  string
>;

/** A figure of any metric: whole with separators, or four figures. The unit is in the metric's name. */
export function formatAmount(value: number | null): string {
  if (value === null) return MISSING;
  return Number.isInteger(value) || Math.abs(value) >= 1000 ? formatCount(value) : String(Number(value.toPrecision(4)));
}

/** "holds 5,000": the highest tier that is valid and meets every objective. Empty while the record does not say. */
export function holdsText(record: RunRecord): string {
  const text = record.headline?.text ?? '';
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}. `;
}

/** How many objectives were met over all tiers, as words. Empty when the plan has none. */
export function objectivesText(record: RunRecord): string {
  const all = record.tiers.flatMap((tier) => tier.slos);
  if (all.length === 0) return '';
  const count = (verdict: SloResult['verdict']) => all.filter((slo) => slo.verdict === verdict).length;
  const unmeasured = count('not-measured');
  return `${formatCount(count('met'))} of ${formatCount(all.length)} objectives met, ${formatCount(count('missed'))} missed${unmeasured === 0 ? '' : `, ${formatCount(unmeasured)} not measured`}`;
}

export function missedObjectives(record: RunRecord): (readonly [tier: TierResult, slo: SloResult])[] {
  return record.tiers.flatMap((tier) => tier.slos.filter((slo) => slo.verdict === 'missed').map((slo) => [tier, slo] as const));
}

/** What a missed objective comes to: `step_latency_us.p99 < 30000 is 48,680; the tier was ended for it`. */
export function missedText({ slo, value, aborted }: SloResult): string {
  return `${slo}, found ${formatAmount(value)}${aborted ? '; the tier was ended for it' : ''}`;
}

export interface ObjectiveRow {
  readonly slo: string;
  /** One per tier; undefined where the tier has no such objective. */
  readonly results: readonly (SloResult | undefined)[];
}

/** One row per objective, in the plan's order, tiers side by side. */
export function objectiveRows(record: RunRecord): ObjectiveRow[] {
  const names = [...new Set(record.tiers.flatMap((tier) => tier.slos.map((slo) => slo.slo)))].slice(0, MAX_SHOWN);
  return names.map((slo) => ({ slo, results: record.tiers.map((tier) => tier.slos.find((result) => result.slo === slo)) }));
}

/** How quiet the machine was, as words; empty when it was not read. */
export function loadText(load: MachineLoad | null): string {
  if (load === null) return '';
  const parts = [
    load.foreign_share === null ? '' : `${formatPercent(load.foreign_share)} of CPU time used by others`,
    load.steal_share === null ? '' : `${formatPercent(load.steal_share)} stolen`,
    load.throttle_events === null ? '' : `${formatCount(load.throttle_events)} throttle events`,
    load.frequency_ratio === null ? '' : `frequency ${formatRate(load.frequency_ratio * 100)} % of the start's`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
