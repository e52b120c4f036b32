// The columns of the ladder table, once for every format: heading, the cell's text, and how much the column matters when room is short.
import type { TierResult } from '../../harness/contract/run-record.js';
import { formatBytes, formatCount, formatMicros, formatPercent, formatRate, formatSeconds, MISSING } from '../quantity.js';
import { totalPss } from '../stats/headline.js';

export interface LadderColumn {
  readonly heading: string;
  /** Second line of the heading, where a format has room for one. */
  readonly unit: string;
  readonly cell: (tier: TierResult) => string;
  /** 1 stays longest. */
  readonly rank: number;
}

/** Rates and latencies of a tier that never came to its measured time say nothing. */
const measured =
  (cell: (tier: TierResult) => string) =>
  (tier: TierResult): string =>
    tier.seconds > 0 ? cell(tier) : MISSING;

const COLUMNS: readonly LadderColumn[] = [
  {
    heading: 'live',
    unit: 'of planned',
    rank: 2,
    cell: (tier) => (tier.envs_live === tier.envs ? formatCount(tier.envs) : `${formatCount(tier.envs_live)}/${formatCount(tier.envs)}`),
  },
  { heading: 'first batch', unit: 'after start', rank: 9, cell: (tier) => formatSeconds(tier.time_to_first_batch_s) },
  { heading: 'all live', unit: 'after start', rank: 5, cell: (tier) => formatSeconds(tier.time_to_all_live_s) },
  { heading: 'measured', unit: 'time', rank: 8, cell: (tier) => formatSeconds(tier.seconds) },
  { heading: 'steps', unit: 'env calls', rank: 10, cell: measured((tier) => formatCount(tier.agent_steps)) },
  { heading: 'sampling', unit: 'SPS', rank: 1, cell: measured((tier) => formatRate(tier.sampling_sps)) },
  { heading: 'training', unit: 'SPS', rank: 3, cell: measured((tier) => formatRate(tier.training_sps)) },
  { heading: 'goodput', unit: 'SPS', rank: 7, cell: measured((tier) => formatRate(tier.goodput_sps)) },
  { heading: 'p50', unit: 'step', rank: 6, cell: measured((tier) => formatMicros(tier.step_latency_us.p50)) },
  { heading: 'p99', unit: 'step', rank: 4, cell: measured((tier) => formatMicros(tier.step_latency_us.p99)) },
  { heading: 'p99.9', unit: 'step', rank: 12, cell: measured((tier) => formatMicros(tier.step_latency_us.p999)) },
  { heading: 'fill', unit: 'batch', rank: 11, cell: measured((tier) => formatPercent(tier.batch_fill)) },
  { heading: 'memory', unit: 'PSS', rank: 8.5, cell: (tier) => formatBytes(totalPss(tier)) },
  { heading: 'restarts', unit: 'workers', rank: 13, cell: (tier) => formatCount(tier.restarts) },
];

/** Only where the plan sets a rate: `p99` above is then the service time inside the response. */
const RATE_COLUMNS: readonly LadderColumn[] = [
  {
    heading: 'rate',
    unit: 'of planned',
    rank: 3.5,
    cell: measured(({ rate }) => (rate === null ? MISSING : formatPercent(rate.steps_per_env_s / rate.planned_steps_per_env_s))),
  },
  {
    heading: 'response p99',
    unit: 'from intended time',
    rank: 3.6,
    cell: measured(({ rate }) => formatMicros(rate?.response_latency_us.p99)),
  },
  { heading: 'lag p99', unit: 'let go late', rank: 12.5, cell: measured(({ rate }) => formatMicros(rate?.schedule_lag_us.p99)) },
];

/** Columns for these tiers, in their order. */
export function ladderColumns(tiers: readonly Pick<TierResult, 'rate'>[]): readonly LadderColumn[] {
  if (tiers.every(({ rate }) => rate === null)) return COLUMNS;
  const at = COLUMNS.findIndex(({ heading }) => heading === 'p50');
  return [...COLUMNS.slice(0, at), ...RATE_COLUMNS, ...COLUMNS.slice(at)];
}
