// One tier of the ladder: grow, wait until every env is live, measure for the planned time, count. Every wait ends early on Ctrl-C or
// when the crew cannot go on, and the tier is then recorded as far as it came.
import type { Plan } from '../contract/plan.js';
import type { TierResult } from '../contract/run-record.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Crew, TierStart } from '../supervisor/crew.js';
import { formatCount, formatSeconds } from './format-amount.js';
import { type Ending, holdTier } from './hold-tier.js';
import type { StatusBoard } from './ladder-status.js';
import { leastFramesBetween } from './least-frames.js';
import { type LoadReading, machineLoadBetween } from './machine-load.js';
import { type SlicesReading, slicesUseBetween } from './rig-slices.js';
import type { Journal } from './run-journal.js';
import { createSloWatch } from './slo-watch.js';
import { type TierFacts, tierResult } from './tier-result.js';

/** Longest wait for the learner's counts at the end of a tier: one PPO update over 7,000 envs takes seconds, and it answers after it. */
const SNAPSHOT_LIMIT_MS = 120_000;
/** The same after Ctrl-C: the newest counts that came by themselves are at most a second older. */
const HURRIED_SNAPSHOT_LIMIT_MS = 1000;

/**
 * Where a tier ended and the next one begins. What happens while nothing is measured (before the first tier, while the record is being
 * written) belongs to the tier that comes next.
 */
export interface TierEnd {
  /** Null for the first tier. */
  readonly counts: LearnerSnapshot | null;
  readonly restarts: number;
  readonly lostRanges: number;
}

export interface ClimbContext {
  readonly plan: Plan;
  readonly crew: Crew;
  readonly journal: Journal;
  readonly board: StatusBoard;
  readonly interrupted: Promise<string>;
  /** The newest counts that came by themselves. */
  readonly latest: () => LearnerSnapshot | null;
  readonly before: TierEnd;
  readonly entryEnvs: readonly number[];
  readonly faultsPlanned: boolean;
  readonly lostRanges: () => number;
  readonly firstFailure: () => string | null;
  /** The machine's CPU counters now; null where they cannot be read. */
  readonly readLoad: () => LoadReading | null;
  /** The counters of the rig's slices now; null where there is no rig. */
  readonly readSlices: () => SlicesReading | null;
  /** A line for a person: a tier is live, a tier is over. */
  readonly say: (message: string) => void;
}

export interface ClimbedTier {
  readonly result: TierResult;
  readonly end: TierEnd;
  /** False: stop climbing. */
  readonly goOn: boolean;
}

/** What ends every wait early. */
function endings(context: ClimbContext): Promise<Ending> {
  return Promise.race([
    context.interrupted.then((): Ending => ({ why: 'interrupted' })),
    context.crew.failed.then((error): Ending => ({ why: 'failed', message: error.message })),
  ]);
}

function within<Value>(work: Promise<Value>, limitMs: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs);
  });
  return Promise.race([work.catch(() => null), limit]).finally(() => clearTimeout(timer));
}

/** The learner's counts now, or the newest it sent by itself when it cannot answer any more. */
async function count(context: ClimbContext, ending: Ending | null): Promise<LearnerSnapshot | null> {
  if (ending?.why === 'interrupted') return (await within(context.crew.snapshot(), HURRIED_SNAPSHOT_LIMIT_MS)) ?? context.latest();
  const cut = Promise.race([context.crew.failed, context.interrupted]).then(() => null);
  return (await Promise.race([within(context.crew.snapshot(), SNAPSHOT_LIMIT_MS), cut])) ?? context.latest();
}

/** Climbs tier `index` and judges it. Never rejects for what envs, workers or the learner do. */
export async function climbTier(index: number, context: ClimbContext): Promise<ClimbedTier> {
  const { plan, crew, journal, board } = context;
  const tier = plan.tiers[index];
  if (tier === undefined) throw new Error(`the plan has no tier ${index}`);
  const early = endings(context);

  journal.setTier(index);
  board.setPhase('growing', index);
  journal.note('tier-started', `tier ${tier.label}: growing to ${tier.envs} envs for ${tier.seconds} s`, {
    envs: tier.envs,
    seconds: tier.seconds,
  });

  const grown = await Promise.race([
    crew.growTo(index).then(
      (start) => ({ start, ending: null }),
      (error: unknown) => ({ start: null, ending: { why: 'failed', message: (error as Error).message } as Ending }),
    ),
    early.then((ending) => ({ start: null, ending })),
  ]);
  const start: TierStart | null = grown.start;
  let ending: Ending | null = grown.ending;
  let measuredFrom: LearnerSnapshot | null = null;
  let framesFrom: Float64Array | null = null;
  let loadFrom: LoadReading | null = null;
  let slicesFrom: SlicesReading | null = null;
  const late = start !== null && start.timeToAllLiveS === null;
  const facts = (withMemory: boolean): TierFacts => {
    const scan = crew.scan();
    return {
      index,
      tier,
      before: context.before.counts,
      measuredFrom,
      end: null,
      timeToFirstBatchS: start?.timeToFirstBatchS ?? null,
      timeToAllLiveS: start?.timeToAllLiveS ?? null,
      live: scan.live,
      quarantined: scan.quarantined,
      firstFailure: context.firstFailure(),
      cutShort: null,
      failure: null,
      learner: plan.learner,
      shmBytes: crew.shmBytes(),
      memory: withMemory ? crew.memory() : {},
      restarts: crew.restarts - context.before.restarts,
      deaths: journal.unclaimedDeaths(),
      faultsPlanned: context.faultsPlanned,
      lostRanges: context.lostRanges() - context.before.lostRanges,
      entries: Object.fromEntries(plan.mix.map((entry, i) => [entry.name, { kind: entry.kind, envs: context.entryEnvs[i] ?? 0 }])),
      asked: plan,
      leastFrames: null,
      machineLoad: null,
      slices: null,
      aborted: null,
    };
  };

  if (ending === null && !late) {
    const live = crew.scan();
    journal.note('tier-live', `tier ${tier.label}: ${live.live} envs live, ${live.quarantined} quarantined`, { ...start });
    context.say(
      `tier ${tier.label}: ${formatCount(live.live)} of ${formatCount(tier.envs)} envs live after ${(start?.timeToAllLiveS ?? 0).toFixed(2)} s, measuring ${formatSeconds(tier.seconds)}`,
    );
    const measured = await Promise.race([
      crew.measure(index).then(
        (snapshot) => ({ snapshot, ending: null }),
        (error: unknown) => ({ snapshot: null, ending: { why: 'failed', message: (error as Error).message } as Ending }),
      ),
      early.then((reason) => ({ snapshot: null, ending: reason })),
    ]);
    measuredFrom = measured.snapshot;
    ending = measured.ending;
    if (ending === null) {
      board.setPhase('measuring', index);
      framesFrom = crew.envFrames();
      loadFrom = context.readLoad();
      slicesFrom = context.readSlices();
      const watch = createSloWatch({
        slos: tier.slos,
        fromMs: measuredFrom?.monotonicMs ?? 0,
        resultAt: (counts) => tierResult({ ...facts(tier.slos.some((slo) => slo.abort && slo.metric.startsWith('memory.'))), end: counts }),
      });
      ending = await holdTier({ seconds: tier.seconds, scan: () => crew.scan(), missed: () => watch.look(context.latest()), early });
    }
  }

  const framesTo = framesFrom === null ? null : crew.envFrames();
  const loadTo = loadFrom === null ? null : context.readLoad();
  const slicesTo = slicesFrom === null ? null : context.readSlices();
  const end = await count(context, ending);
  const cutShort = late ? 'start-deadline' : ending === null || ending.why === 'done' ? null : ending.why;
  const ended: TierEnd = { counts: end ?? context.before.counts, restarts: crew.restarts, lostRanges: context.lostRanges() };
  const result = tierResult({
    ...facts(true),
    deaths: journal.claimDeaths(),
    end,
    cutShort,
    failure: ending?.why === 'failed' ? ending.message : null,
    leastFrames: leastFramesBetween(framesFrom, framesTo),
    machineLoad: machineLoadBetween(loadFrom, loadTo),
    slices: slicesUseBetween(slicesFrom, slicesTo),
    aborted: ending?.why === 'slo' ? ending.missed : null,
  });
  journal.record.tiers.push(result);
  const missed = result.slos.filter((slo) => slo.verdict === 'missed');
  for (const slo of missed)
    journal.note('warning', `tier ${tier.label}: missed ${slo.slo}${slo.aborted ? ', which ends the climb' : ''}; measured ${slo.value}`, {
      ...slo,
    });
  journal.note('tier-ended', `tier ${tier.label}: ${result.validity.verdict}, ${Math.round(result.sampling_sps)} agent steps/s`, {
    verdict: result.validity.verdict,
  });
  context.say(
    `tier ${tier.label}: ${result.validity.verdict}, ${formatCount(result.sampling_sps)} steps/s sampled, ${formatCount(result.training_sps)} trained${missed.length === 0 ? '' : `; missed: ${missed.map((slo) => slo.slo).join(', ')}`}`,
  );
  for (const { message, advice } of result.warnings) context.say(`tier ${tier.label}: ${message}; ${advice}`);
  await journal.save();
  journal.setTier(null);
  return { result, end: ended, goOn: cutShort === null };
}
