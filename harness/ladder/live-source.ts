// A running ladder as the live page sees it: what was planned, how it stands, the tiers that are over, what every env is doing.
import type { EnvRange } from '../contract/env-state.js';
import type { EntryMessage } from '../contract/messages.js';
import type { RunRecord, TierResult } from '../contract/run-record.js';
import type { LiveSource, LiveTier } from '../live/live-feed.js';
import { planBlocks } from '../supervisor/block-plan.js';
import type { Crew } from '../supervisor/crew.js';
import type { LadderStatus } from './ladder-status.js';
import type { ReadPlan } from './read-plan.js';

/** A page needs no more: beyond, cells have a number and no name. */
const MAX_RANGES = 2000;
const MAX_REASONS = 10;

export interface LiveSourceParts {
  readonly record: RunRecord;
  readonly status: () => LadderStatus;
  /** Null until it is raised. */
  readonly crew: () => Crew | null;
}

export interface PlannedRun {
  readonly runId: string;
  readonly read: ReadPlan;
  readonly entries: readonly EntryMessage[];
  readonly command: string;
}

function liveTier(result: TierResult): LiveTier {
  return {
    tier: result.tier,
    verdict: result.validity.verdict,
    samplingSps: result.sampling_sps,
    trainingSps: result.training_sps,
    latencyP99Us: result.step_latency_us.p99,
    reasons: result.validity.reasons.slice(0, MAX_REASONS).map(({ message }) => message),
    objectives: {
      all: result.slos.length,
      met: result.slos.filter(({ verdict }) => verdict === 'met').length,
      missed: result.slos
        .filter(({ verdict }) => verdict !== 'met')
        .slice(0, MAX_REASONS)
        .map(({ slo, value }) => `${slo}, ${value === null ? 'not measured' : `found ${Number(value.toPrecision(6))}`}`),
    },
  };
}

/** Which env ids are of which mix entry and worker, by id. */
export function envRanges({ runId, read, entries }: Pick<PlannedRun, 'runId' | 'read' | 'entries'>): EnvRange[] {
  return planBlocks(runId, read.plan, entries)
    .segments.flatMap(({ spec, entryOf }) =>
      spec.blocks.map(({ firstEnvId, slots }, index) => ({
        first: firstEnvId,
        count: slots,
        entry: entries[entryOf[index] ?? 0]?.name ?? '',
        worker: spec.worker,
      })),
    )
    .sort((a, b) => a.first - b.first);
}

export function liveSource(planned: PlannedRun, { record, status, crew }: LiveSourceParts): LiveSource {
  const { plan } = planned.read;
  const envs = plan.tiers.at(-1)?.envs ?? 0;
  const nothingYet = new Uint8Array(envs);
  return {
    head: {
      runId: planned.runId,
      plan: planned.read.label,
      command: planned.command,
      tiers: plan.tiers.map(({ label, envs: size, seconds }) => ({ label, envs: size, seconds })),
      entries: plan.mix.map(({ name }) => name),
      envs,
      ranges: envRanges(planned).slice(0, MAX_RANGES),
    },
    status,
    tiers: () => record.tiers.map(liveTier),
    envStates: () => crew()?.envStates() ?? nothingYet,
  };
}
