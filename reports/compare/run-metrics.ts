// The scalars of one run that a comparison looks at: one number per metric and tier, never an average of percentiles. Timing metrics carry
// the noise that is declared for them; counts carry the slack that the edges of the measured window leave them. Pure.
import type { BuildCount } from '../../harness/contract/build-counts.js';
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import { totalPss } from '../stats/headline.js';

export type MetricUnit = 'rate' | 'micros' | 'seconds' | 'bytes' | 'count';

export interface MetricKey {
  /** As in run.json where it stands there: sampling_sps, step_latency_us.p99... */
  readonly name: string;
  /** Envs of the tier; null for the whole run. */
  readonly tierEnvs: number | null;
  readonly unit: MetricUnit;
  readonly better: 'higher' | 'lower';
  /** `timing` is tested statistically; `count` is compared exactly. */
  readonly kind: 'timing' | 'count';
  /** Share of the base's median below which a shift is noise by declaration (timing only). */
  readonly noise: number;
}

export interface MetricValue extends MetricKey {
  readonly value: number;
  /** Half-width of what the same program may count (counts only). */
  readonly slack: number;
}

/** Declared noise by metric: what changes between runs of one program on a quiet machine of its own. `--noise` overrides it. */
export const DECLARED_NOISE = {
  sampling_sps: 0.03,
  training_sps: 0.03,
  goodput_sps: 0.03,
  'step_latency_us.p50': 0.05,
  'step_latency_us.p99': 0.1,
  'response_latency_us.p99': 0.1,
  time_to_all_live_s: 0.1,
  pss_bytes: 0.03,
  bytes_copied_per_step: 0.05,
} as const satisfies Record<string, number>;

type TimingName = keyof typeof DECLARED_NOISE;

function timing(name: TimingName, tier: TierResult, unit: MetricUnit, better: 'higher' | 'lower', value: number | null): MetricValue[] {
  if (value === null || !Number.isFinite(value)) return [];
  return [{ name, tierEnvs: tier.envs, unit, better, kind: 'timing', noise: DECLARED_NOISE[name], value, slack: 0 }];
}

function count(name: string, tierEnvs: number | null, unit: MetricUnit, value: number, slack = 0): MetricValue {
  return { name, tierEnvs, unit, better: 'lower', kind: 'count', noise: 0, value, slack };
}

/**
 * Bytes gathered per frame. With one entry in the mix every frame has the same size and the quotient is exact up to the frames in flight at
 * the two edges of the window (each env at most one per edge); with several it depends on which envs were faster, and is timing.
 */
function copied(tier: TierResult, entries: number): MetricValue[] {
  if (tier.agent_steps === 0 || tier.bytes_copied === 0) return [];
  const perStep = tier.bytes_copied / tier.agent_steps;
  if (entries > 1) return timing('bytes_copied_per_step', tier, 'bytes', 'lower', perStep);
  return [count('bytes_copied_per_step', tier.envs, 'bytes', perStep, (perStep * 2 * tier.envs) / tier.agent_steps)];
}

function ofTier(tier: TierResult, record: RunRecord): MetricValue[] {
  if (tier.seconds <= 0) return [];
  const trains = record.learner.mode === 'ppo';
  return [
    ...timing('sampling_sps', tier, 'rate', 'higher', tier.sampling_sps),
    ...(trains ? timing('training_sps', tier, 'rate', 'higher', tier.training_sps) : []),
    ...(trains ? timing('goodput_sps', tier, 'rate', 'higher', tier.goodput_sps) : []),
    ...timing('step_latency_us.p50', tier, 'micros', 'lower', tier.step_latency_us.p50),
    ...timing('step_latency_us.p99', tier, 'micros', 'lower', tier.step_latency_us.p99),
    ...(tier.rate === null ? [] : timing('response_latency_us.p99', tier, 'micros', 'lower', tier.rate.response_latency_us.p99)),
    ...timing('time_to_all_live_s', tier, 'seconds', 'lower', tier.time_to_all_live_s),
    ...timing('pss_bytes', tier, 'bytes', 'lower', totalPss(tier)),
    ...copied(tier, Object.keys(record.env_kinds).length),
    count('shm_bytes', tier.envs, 'bytes', tier.shm_bytes),
    count('restarts', tier.envs, 'count', tier.restarts),
    count('envs_lost', tier.envs, 'count', tier.envs - tier.envs_live),
  ];
}

/** Every metric of a run, tiers in the order they were climbed, then the whole run. */
export function metricsOf(record: RunRecord): MetricValue[] {
  return [
    ...record.tiers.flatMap((tier) => ofTier(tier, record)),
    count('deaths', null, 'count', record.deaths.length),
    count('events_dropped', null, 'count', record.events.dropped),
  ];
}

/** A count of the build itself, taken apart from the runs. */
export function buildCountMetric({ name, value }: BuildCount): MetricValue {
  return count(name, null, 'count', value);
}

/** One text per metric and tier: "sampling_sps@1000", "deaths". */
export function metricId(key: Pick<MetricKey, 'name' | 'tierEnvs'>): string {
  return key.tierEnvs === null ? key.name : `${key.name}@${key.tierEnvs}`;
}
