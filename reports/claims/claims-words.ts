// The words and numbers of claims, the same in every format: values with three figures and their unit, intervals, rules as sentences. Pure.
import type { ClaimSize } from '../../harness/contract/claims-record.js';
import { formatBytes, formatInstant, MISSING } from '../quantity.js';
import type { Interval } from '../stats/bootstrap.js';
import type { Middle, RatioOf } from './estimates.js';
import type { JudgedClaim, JudgedClaims, JudgedMetric, JudgedRule, JudgedSide } from './judge-claims.js';

/** Three figures with thousands separators: 0.0312, 4.72, 18.3, 1,200, 3.1e-7. */
export function formatFigure(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size < 1e-4 || size >= 1e9) return value.toExponential(1);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(6, digits) });
}

/** Empty without one, and where all repeats were equal: a count has no spread to tell. */
export function formatInterval(interval: Interval | null): string {
  if (interval === null) return '';
  const [low, high] = [formatFigure(interval.low), formatFigure(interval.high)];
  return low === high ? '' : `${low} to ${high}`;
}

/** `4.7 [4.6 to 4.9]`, a dash where nothing was measured. */
export function formatMiddle(middle: Middle | null): string {
  if (middle === null) return MISSING;
  const interval = formatInterval(middle.interval);
  return interval === '' ? formatFigure(middle.value) : `${formatFigure(middle.value)} [${interval}]`;
}

export function formatRatio(ratio: RatioOf | null): string {
  return ratio === null ? MISSING : `${formatMiddle(ratio)}`;
}

const RELATION = { 'at-least': 'at least', 'at-most': 'at most' } as const;
const HOLDS = { yes: 'holds', no: 'broken', open: 'open' } as const;

/** "time per batch of gather at most 1.2 ms: found 24.1 [23.8 to 24.9], broken" */
export function ruleSentence({ rule, metric, holds, found, interval }: JudgedRule): string {
  const of = rule.type === 'value' ? rule.side : `${rule.side} / ${rule.to}`;
  const unit = rule.type === 'value' && metric.unit !== '' ? ` ${metric.unit}` : '';
  const measured = found === null ? 'nothing to compare' : `found ${formatMiddle({ value: found, interval })}`;
  return `${metric.name}, ${of}: ${RELATION[rule.relation]} ${formatFigure(rule.bound)}${unit}; ${measured}: ${HOLDS[holds]}`;
}

/** The account's figure, for the narrow column; its words stand elsewhere. */
export function saidFigure({ entry }: JudgedClaim): string {
  const { value, unit } = entry.said;
  return value === null ? MISSING : `${formatFigure(value)}${unit === '' ? '' : ` ${unit}`}`;
}

export function testsWords({ entry }: JudgedClaim): string {
  return entry.registered.tests === 'figure'
    ? "tests the account's figure"
    : 'tests the direction: the figure is of other hardware or of no stated conditions';
}

/** "Of 22 claims 6 held, 12 did not, 4 are not testable here." */
export function countsSentence({ claims, counts }: JudgedClaims): string {
  const { held, failed } = counts;
  const parts = [`${held} held`, `${counts['did not hold']} did not hold`, `${counts['not testable here']} not testable here`];
  if (failed > 0) parts.push(`${failed} failed`);
  return `${claims.length === 1 ? '1 claim' : `${claims.length} claims`}: ${parts.join(', ')}`;
}

/** Why the figures are not to be believed, or empty. */
export function sizeWarning(size: ClaimSize): string {
  return size === 'full' ? '' : `A ${size} run: it shows that every claim can be measured; its few repeats and small sizes decide little.`;
}

/** More cores than this in use by others show in every time. */
const BUSY_CORES = 0.3;

/** Which figures are of a busy machine, or empty. */
export function loadWarning({ claims }: JudgedClaims): string {
  const measured = claims.filter(({ entry }) => entry.foreign_cores.length > 0);
  const busy = measured.filter(({ entry }) => Math.max(...entry.foreign_cores) > BUSY_CORES).length;
  if (busy === 0) return '';
  return `The machine was busy: while ${busy} of ${measured.length} claims were measured, others used more than ${BUSY_CORES} cores. Counts stand; times and rates are those of a busy machine.`;
}

/** Machine, date and seed in one sentence. */
export function machineSentence({ record }: JudgedClaims): string {
  const { machine } = record;
  return `${machine.cores} x ${machine.cpu_model}, ${formatBytes(machine.memory_bytes)}, ${machine.os}, kernel ${machine.kernel}, Node ${machine.node}; ${formatInstant(record.started_at)}, seed ${record.seed}, ${record.repeats} repeats per side asked for`;
}

/** Headline sides in the order of the rule that decides: those it names first, then the others that were measured. */
export function sidesOf(claim: JudgedClaim): { readonly metric: JudgedMetric; readonly sides: readonly JudgedSide[] } | null {
  const [metric] = claim.metrics;
  if (metric === undefined) return null;
  const named = claim.rules
    .filter(({ rule }) => rule.metric === metric.metric.id)
    .flatMap(({ rule }) => (rule.type === 'ratio' ? [rule.side, rule.to] : [rule.side]));
  const place = (side: JudgedSide): number => (named.includes(side.side.name) ? named.indexOf(side.side.name) : named.length);
  const measured = metric.sides.filter(({ middle }) => middle !== null);
  return { metric, sides: [...measured].sort((a, b) => place(a) - place(b)) };
}

/** Cores others used while a claim was measured: the largest. */
export function loadWords({ entry }: JudgedClaim): string {
  return entry.foreign_cores.length === 0 ? '' : `others used up to ${Math.max(...entry.foreign_cores).toFixed(2)} cores meanwhile`;
}
