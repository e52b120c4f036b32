// One tier of the record, made from three snapshots: when the tier began to grow, when its measured time began, when it ended. Rates
// are counts between the last two over the time between them; the balance covers the whole tier, so that tiers add up to the run. Pure.
import { percentilesOf } from '../contract/latency.js';
import type { Plan, Tier } from '../contract/plan.js';
import type { SliceUse } from '../contract/rig-facts.js';
import type { Death, MachineLoad, SloResult, TierResult } from '../contract/run-record.js';
import { judgeSlo } from '../contract/slo-verdict.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import { balanceBetween, NO_COUNTS } from './balance.js';
import type { LeastFrames } from './least-frames.js';
import { judgeLoad } from './machine-load.js';
import { deathWarnings, judgeTier, type TierEvidence } from './tier-validity.js';

export interface TierFacts {
  readonly index: number;
  readonly tier: Tier;
  /** Taken before the tier grew; null = the run began with it. */
  readonly before: LearnerSnapshot | null;
  /** Null when the tier never came to its measured time. */
  readonly measuredFrom: LearnerSnapshot | null;
  /** The newest snapshot of the tier; null when the learner never answered. */
  readonly end: LearnerSnapshot | null;
  readonly timeToFirstBatchS: number | null;
  readonly timeToAllLiveS: number | null;
  readonly live: number;
  readonly quarantined: number;
  readonly firstFailure: string | null;
  readonly cutShort: TierEvidence['cutShort'];
  readonly failure: string | null;
  readonly learner: TierEvidence['learner'];
  readonly shmBytes: number;
  readonly memory: Readonly<Record<string, { readonly pssBytes: number; readonly processes: number }>>;
  readonly restarts: number;
  readonly deaths: readonly Death[];
  readonly faultsPlanned: boolean;
  readonly lostRanges: number;
  /** Mix entry -> its kind and its envs at this tier. */
  readonly entries: Readonly<Record<string, { readonly kind: string; readonly envs: number }>>;
  /** What the plan asks of every tier beyond its objectives. */
  readonly asked: Pick<Plan, 'minStepsPerEnv' | 'minUpdates' | 'quiet' | 'rate'>;
  readonly leastFrames: LeastFrames | null;
  readonly machineLoad: MachineLoad | null;
  readonly slices: Record<string, SliceUse> | null;
  /** The objective that ended the tier early, as it was judged then. */
  readonly aborted: SloResult | null;
}

const perSecond = (count: number, seconds: number): number => (seconds > 0 ? count / seconds : 0);

/** Means over the tier's own episodes: the totals' difference, not the recent window, which still holds older tiers. */
function kindResults(facts: TierFacts): TierResult['kinds'] {
  const kinds: TierResult['kinds'] = {};
  for (const [name, { kind, envs }] of Object.entries(facts.entries)) {
    const from = facts.before?.kinds[name];
    const to = facts.end?.kinds[name];
    const episodes = (to?.episodes ?? 0) - (from?.episodes ?? 0);
    const mean = (after: number, before: number): number | null => (episodes > 0 ? (after - before) / episodes : null);
    kinds[name] = {
      kind,
      envs,
      episodes,
      return_mean: mean(to?.returnSum ?? 0, from?.returnSum ?? 0),
      length_mean: mean(to?.lengthSum ?? 0, from?.lengthSum ?? 0),
    };
  }
  return kinds;
}

/** Frames per batch over its limit within the tier, from the running means at both ends. */
function batchFillBetween(from: LearnerSnapshot | null, to: LearnerSnapshot): number {
  const batches = to.batches - (from?.batches ?? 0);
  if (batches <= 0) return to.batchFill;
  const sum = to.batchFill * to.batches - (from === null ? 0 : from.batchFill * from.batches);
  return Math.min(1, Math.max(0, sum / batches));
}

function phaseSeconds(from: LearnerSnapshot | null, to: LearnerSnapshot | null): Record<string, number> {
  const phases: Record<string, number> = {};
  for (const [phase, seconds] of Object.entries(to?.phaseSeconds ?? {})) {
    phases[phase] = seconds - (from?.phaseSeconds[phase as keyof LearnerSnapshot['phaseSeconds']] ?? 0);
  }
  return phases;
}

/** Null unless the plan sets a rate. */
function rateResult(
  { asked, live }: TierFacts,
  { response, lag }: LearnerSnapshot,
  published: number,
  seconds: number,
): TierResult['rate'] {
  if (asked.rate === undefined) return null;
  const histogram = { value_us: [...response.valueUs], count: [...response.count] };
  return {
    planned_steps_per_env_s: asked.rate,
    steps_per_env_s: live > 0 ? perSecond(published / live, seconds) : 0,
    response_latency_us: percentilesOf(histogram, response.maxUs),
    response_histogram: histogram,
    schedule_lag_us: percentilesOf({ value_us: lag.valueUs, count: lag.count }, lag.maxUs),
  };
}

function lagOf({ asked }: TierFacts, rate: TierResult['rate']): TierEvidence['scheduleLag'] {
  const p99 = rate?.schedule_lag_us.p99 ?? null;
  if (asked.rate === undefined || p99 === null) return null;
  return { p99Ms: p99 / 1000, limitMs: asked.quiet.maxScheduleLagMs ?? 1000 / asked.rate };
}

/** Builds and judges the tier's result. */
export function tierResult(facts: TierFacts): TierResult {
  const { end, measuredFrom, before } = facts;
  const measured = end !== null && measuredFrom !== null ? { from: measuredFrom, to: end } : null;
  const seconds = measured === null ? 0 : Math.max(0, (measured.to.monotonicMs - measured.from.monotonicMs) / 1000);
  const counted = (key: 'published' | 'trained' | 'evaluated'): number => (measured === null ? 0 : measured.to[key] - measured.from[key]);
  const over = (key: 'updates' | 'bytesCopied' | 'torn' | 'outOfOrder' | 'taken'): number =>
    end === null ? 0 : end[key] - (before?.[key] ?? 0);
  const balance = balanceBetween(before ?? NO_COUNTS, end ?? before ?? NO_COUNTS);
  const histogram =
    end === null || measuredFrom === null
      ? { value_us: [], count: [] }
      : { value_us: [...end.latency.valueUs], count: [...end.latency.count] };
  const rate = measured === null ? null : rateResult(facts, measured.to, counted('published'), seconds);
  const load = judgeLoad(facts.machineLoad, facts.asked.quiet, facts.tier.envs);
  const validity = judgeTier({
    envs: facts.tier.envs,
    live: facts.live,
    quarantined: facts.quarantined,
    firstFailure: facts.firstFailure,
    plannedSeconds: facts.tier.seconds,
    seconds,
    cutShort: facts.cutShort,
    failure: facts.failure,
    learner: facts.learner,
    updates: over('updates'),
    consumed: over('taken'),
    torn: over('torn'),
    outOfOrder: over('outOfOrder'),
    balance,
    deaths: facts.deaths,
    faultsPlanned: facts.faultsPlanned,
    lostRanges: facts.lostRanges,
    minStepsPerEnv: facts.asked.minStepsPerEnv,
    minUpdates: facts.asked.minUpdates,
    leastFrames: facts.leastFrames,
    loadReasons: load.reasons,
    scheduleLag: lagOf(facts, rate),
  });
  const result: Omit<TierResult, 'slos'> = {
    tier: facts.index,
    label: facts.tier.label,
    envs: facts.tier.envs,
    envs_live: facts.live,
    planned_seconds: facts.tier.seconds,
    seconds,
    complete: facts.cutShort === null,
    time_to_first_batch_s: facts.timeToFirstBatchS,
    time_to_all_live_s: facts.timeToAllLiveS,
    agent_steps: counted('published'),
    sampling_sps: perSecond(counted('published'), seconds),
    training_sps: perSecond(counted('trained'), seconds),
    goodput_sps: perSecond(counted('trained') + counted('evaluated'), seconds),
    step_latency_us: percentilesOf(histogram, end?.latency.maxUs),
    latency_histogram: histogram,
    rate,
    batch_fill: measured === null ? 0 : batchFillBetween(measured.from, measured.to),
    updates: over('updates'),
    shm_bytes: facts.shmBytes,
    memory: Object.fromEntries(
      Object.entries(facts.memory).map(([role, memory]) => [role, { pss_bytes: memory.pssBytes, processes: memory.processes }]),
    ),
    restarts: facts.restarts,
    balance,
    validity,
    kinds: kindResults(facts),
    phase_seconds: phaseSeconds(measuredFrom, measured?.to ?? null),
    bytes_copied: over('bytesCopied'),
    least_frames_per_env: facts.leastFrames?.frames ?? null,
    machine_load: facts.machineLoad,
    warnings: [...load.warnings, ...deathWarnings(facts)],
    slices: facts.slices,
  };
  const slos = facts.tier.slos.map((slo) => (facts.aborted?.slo === slo.slo ? facts.aborted : judgeSlo(slo, result)));
  return { ...result, slos };
}
