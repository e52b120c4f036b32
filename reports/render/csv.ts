// tiers.csv and kinds.csv: the record's figures for spreadsheets and data frames, RFC 4180 (CRLF, quotes doubled), figures in full. Pure.
import type { SloResult, TierResult } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';
import { oneLine } from '../quantity.js';
import { totalPss } from '../stats/headline.js';

type Cell = string | number | boolean | null;

/**
 * Text from outside: one line, and an apostrophe before what a spreadsheet would take for a formula. Empty stands for "not measured",
 * so numbers are never quoted and text never looks like one by accident.
 */
function printCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const line = oneLine(cell, 400);
  const text = /^[=+\-@]/.test(line) ? `'${line}` : line;
  return /[",]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function printRows(heading: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [heading, ...rows].map((row) => `${row.map(printCell).join(',')}\r\n`).join('');
}

const TIER_COLUMNS = [
  'run',
  'tier',
  'label',
  'verdict',
  'reasons',
  'envs',
  'envs_live',
  'planned_seconds',
  'seconds',
  'complete',
  'time_to_first_batch_s',
  'time_to_all_live_s',
  'agent_steps',
  'sampling_sps',
  'training_sps',
  'goodput_sps',
  'step_latency_us_p50',
  'step_latency_us_p90',
  'step_latency_us_p99',
  'step_latency_us_p999',
  'step_latency_us_max',
  'batch_fill',
  'updates',
  'pss_bytes',
  'shm_bytes',
  'bytes_copied',
  'restarts',
  'published',
  'carried_in',
  'trained',
  'evaluated',
  'superseded',
  'in_flight',
  'dropped',
  'slos_met',
  'slos_missed',
  'steal_share',
  'foreign_share',
  'planned_steps_per_env_s',
  'steps_per_env_s',
  'response_latency_us_p99',
  'schedule_lag_us_p99',
] as const;

/** One row per tier that was started. */
export function renderTiersCsv({ record }: ReportModel): string {
  return printRows(
    TIER_COLUMNS,
    record.tiers.map((tier) => {
      const { step_latency_us: latency, balance } = tier;
      const measured = (value: number) => (tier.seconds > 0 ? value : null);
      return [
        record.run.id,
        tier.tier,
        tier.label,
        tier.validity.verdict,
        tier.validity.reasons.map((reason) => reason.code).join(' '),
        tier.envs,
        tier.envs_live,
        tier.planned_seconds,
        tier.seconds,
        tier.complete,
        tier.time_to_first_batch_s,
        tier.time_to_all_live_s,
        measured(tier.agent_steps),
        measured(tier.sampling_sps),
        measured(tier.training_sps),
        measured(tier.goodput_sps),
        latency.p50,
        latency.p90,
        latency.p99,
        latency.p999,
        latency.max,
        measured(tier.batch_fill),
        tier.updates,
        totalPss(tier),
        tier.shm_bytes,
        tier.bytes_copied,
        tier.restarts,
        balance.published,
        balance.carried_in,
        balance.trained,
        balance.evaluated,
        balance.superseded,
        balance.in_flight,
        Object.values(balance.dropped).reduce((sum, count) => sum + count, 0),
        ...(tier.slos.length === 0 ? [null, null] : [countOf(tier, 'met'), countOf(tier, 'missed')]),
        tier.machine_load?.steal_share ?? null,
        tier.machine_load?.foreign_share ?? null,
        tier.rate?.planned_steps_per_env_s ?? null,
        tier.rate?.steps_per_env_s ?? null,
        tier.rate?.response_latency_us.p99 ?? null,
        tier.rate?.schedule_lag_us.p99 ?? null,
      ];
    }),
  );
}

function countOf(tier: TierResult, verdict: SloResult['verdict']): number {
  return tier.slos.filter((slo) => slo.verdict === verdict).length;
}

/** One row per tier and entry of the mix. */
export function renderKindsCsv({ record }: ReportModel): string {
  return printRows(
    ['run', 'tier', 'label', 'entry', 'kind', 'version', 'code_sha256', 'config_sha256', 'envs', 'episodes', 'return_mean', 'length_mean'],
    record.tiers.flatMap((tier) =>
      Object.entries(tier.kinds).map(([entry, result]) => {
        const provenance = record.env_kinds[entry];
        return [
          record.run.id,
          tier.tier,
          tier.label,
          entry,
          result.kind,
          provenance?.version ?? null,
          provenance?.code_sha256 ?? null,
          provenance?.config_sha256 ?? null,
          result.envs,
          result.episodes,
          result.return_mean,
          result.length_mean,
        ];
      }),
    ),
  );
}
