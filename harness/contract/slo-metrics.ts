// What objectives can be about: every metric by its name in the record, and how it is read off one tier's own result. Percentiles come
// from the tier's histogram, never from other percentiles. Pure. A metric that a tier did not measure is null, never zero.
import { type LatencySummary, type ValueCounts, valuesAt } from './latency.js';
import type { TierResult } from './run-record.js';

/** The part of a tier's result that metrics are read from. */
export type Measured = Pick<
  TierResult,
  | 'envs'
  | 'envs_live'
  | 'seconds'
  | 'time_to_first_batch_s'
  | 'time_to_all_live_s'
  | 'agent_steps'
  | 'sampling_sps'
  | 'training_sps'
  | 'goodput_sps'
  | 'step_latency_us'
  | 'latency_histogram'
  | 'rate'
  | 'batch_fill'
  | 'updates'
  | 'shm_bytes'
  | 'memory'
  | 'restarts'
  | 'kinds'
  | 'bytes_copied'
>;

const overTime =
  (read: (tier: Measured) => number) =>
  (tier: Measured): number | null =>
    tier.seconds > 0 ? read(tier) : null;

const SCALARS: Readonly<Record<string, (tier: Measured) => number | null>> = {
  sampling_sps: overTime((tier) => tier.sampling_sps),
  training_sps: overTime((tier) => tier.training_sps),
  goodput_sps: overTime((tier) => tier.goodput_sps),
  agent_steps: overTime((tier) => tier.agent_steps),
  batch_fill: overTime((tier) => tier.batch_fill),
  updates: overTime((tier) => tier.updates),
  bytes_copied: overTime((tier) => tier.bytes_copied),
  time_to_first_batch_s: (tier) => tier.time_to_first_batch_s,
  time_to_all_live_s: (tier) => tier.time_to_all_live_s,
  envs_live: (tier) => tier.envs_live,
  shm_bytes: (tier) => tier.shm_bytes,
  restarts: (tier) => tier.restarts,
  // At a set rate.
  'rate.steps_per_env_s': (tier) => tier.rate?.steps_per_env_s ?? null,
  'schedule_lag_us.p99': (tier) => tier.rate?.schedule_lag_us.p99 ?? null,
  // Restarts of the whole tier, growing included, over its measured env-hours: never less than the rate of the measured time alone.
  'restarts.rate_per_1000_env_h': overTime((tier) => tier.restarts / ((tier.envs * tier.seconds) / 3600 / 1000)),
};

const ROLES = ['supervisor', 'learner', 'worker'] as const;
const KIND_FIELDS = ['return_mean', 'length_mean', 'episodes'] as const;
const LATENCY = 'step_latency_us.';
const RESPONSE = 'response_latency_us.';
/** p50, p99, p999 = 99.9 %: the digits are those behind the decimal point of the share. */
const PERCENTILE = /^p(\d{2,5})$/;

function percentileOf({ max }: LatencySummary, histogram: ValueCounts, name: string): number | null {
  if (name === 'max') return max;
  const digits = PERCENTILE.exec(name)?.[1];
  const value = digits === undefined ? undefined : valuesAt(histogram, [Number(`0.${digits}`)])[0];
  return value === undefined ? null : Math.min(value, max ?? value);
}

/** `kinds.NAME.FIELD`: names may hold dots, fields do not. */
function splitKind(metric: string): { name: string; field: string } | null {
  const parts = /^kinds\.(.+)\.([^.]+)$/.exec(metric);
  return parts === null ? null : { name: parts[1] ?? '', field: parts[2] ?? '' };
}

/** The tier's value of `metric`; null when it was not measured. */
export function metricValue(tier: Measured, metric: string): number | null {
  const scalar = Object.hasOwn(SCALARS, metric) ? SCALARS[metric] : undefined;
  if (scalar !== undefined) return scalar(tier);
  if (metric.startsWith(LATENCY)) return percentileOf(tier.step_latency_us, tier.latency_histogram, metric.slice(LATENCY.length));
  const { rate } = tier;
  if (metric.startsWith(RESPONSE))
    return rate === null ? null : percentileOf(rate.response_latency_us, rate.response_histogram, metric.slice(RESPONSE.length));
  const role = /^memory\.(\w+)\.pss_bytes$/.exec(metric)?.[1];
  if (role !== undefined) return (Object.hasOwn(tier.memory, role) ? tier.memory[role]?.pss_bytes : undefined) ?? null;
  const kind = splitKind(metric);
  if (kind === null || !Object.hasOwn(tier.kinds, kind.name) || tier.seconds <= 0) return null;
  return tier.kinds[kind.name]?.[kind.field as (typeof KIND_FIELDS)[number]] ?? null;
}

/** Every metric a plan with this mix can name; any other percentile goes as well. */
export function knownMetrics(kinds: readonly string[]): string[] {
  return [
    ...[LATENCY, RESPONSE].flatMap((prefix) => ['p50', 'p90', 'p95', 'p99', 'p999', 'max'].map((name) => `${prefix}${name}`)),
    ...Object.keys(SCALARS),
    ...ROLES.map((role) => `memory.${role}.pss_bytes`),
    ...kinds.flatMap((name) => KIND_FIELDS.map((field) => `kinds.${name}.${field}`)),
  ];
}

/** Whether a plan with this mix can name `metric`. */
export function isMetric(metric: string, kinds: readonly string[]): boolean {
  for (const prefix of [LATENCY, RESPONSE]) if (metric.startsWith(prefix) && PERCENTILE.test(metric.slice(prefix.length))) return true;
  return knownMetrics(kinds).includes(metric);
}
