// Whether a tier measured what it claims to have measured. Each rule that is broken becomes a reason with one line of
// advice; none is weighed against another, and a single one makes the result invalid. Pure; property-tested.
import type { Balance, Death, Reason, Validity } from '../contract/run-record.js';
import { balanceGap } from './balance.js';
import { adviceForDeath, describeDeath, isExplained } from './describe-death.js';
import { formatCount } from './format-amount.js';
import type { LeastFrames } from './least-frames.js';
import { deathReasonsOf, failed, firstLine, unbalanced, verdictOf } from './validity-reasons.js';

/** A tier may end this much early by the clock's and the timer's rounding. */
const DURATION_TOLERANCE_S = 0.05;

export interface TierEvidence {
  readonly envs: number;
  readonly live: number;
  readonly quarantined: number;
  /** What the first env to fail did, as a sentence. */
  readonly firstFailure: string | null;
  readonly plannedSeconds: number;
  readonly seconds: number;
  /** Why the tier ended early; null = it ran to its end. `slo`: an objective was missed beyond repair, which is no fault of the measurement. */
  readonly cutShort: 'interrupted' | 'failed' | 'start-deadline' | 'slo' | null;
  /** What failed, in one sentence, for `failed`. */
  readonly failure: string | null;
  readonly learner: 'ppo' | 'random' | 'none';
  /** Over the tier. */
  readonly updates: number;
  readonly consumed: number;
  readonly torn: number;
  readonly outOfOrder: number;
  readonly balance: Balance;
  readonly deaths: readonly Death[];
  /** The plan asks for faults (kind `fault`): then deaths are what was ordered. */
  readonly faultsPlanned: boolean;
  readonly lostRanges: number;
  readonly minStepsPerEnv: number;
  readonly minUpdates: number;
  /** The env that published the fewest frames in the measured time; null = not counted. */
  readonly leastFrames: LeastFrames | null;
  /** What machine-load.ts found beyond the plan's limits. */
  readonly loadReasons: readonly Reason[];
  /** At a set rate: p99 of how late steps were let go, and what is allowed; null without, or without a step that could have been late. */
  readonly scheduleLag: { readonly p99Ms: number; readonly limitMs: number } | null;
}

function durationReasons(tier: TierEvidence): Reason[] {
  switch (tier.cutShort) {
    case 'interrupted':
      return [
        {
          code: 'interrupted',
          message: `stopped after ${tier.seconds.toFixed(1)} of ${tier.plannedSeconds} s at ${formatCount(tier.envs)} envs`,
          advice: 'run again and let it finish',
        },
      ];
    case 'start-deadline':
      return [
        {
          code: 'not-live',
          message: `${formatCount(tier.live)} of ${formatCount(tier.envs)} envs were live when the start deadline passed`,
          advice:
            'look for slow constructors with: npm run -s envladder -- env check KIND; raise startDeadlineSeconds or constructParallel in the plan',
        },
      ];
    case 'failed':
      // A death that ended the run is told as that death, with what to do about it.
      return tier.deaths.some((death) => !death.restarted) && !tier.faultsPlanned ? [] : [failed(tier.failure)];
    case 'slo':
      return [];
    case null:
      return tier.seconds + DURATION_TOLERANCE_S >= tier.plannedSeconds
        ? []
        : [
            {
              code: 'too-short',
              message: `measured ${tier.seconds.toFixed(1)} of ${tier.plannedSeconds} s at ${formatCount(tier.envs)} envs`,
              advice: 'run again; if it repeats, report it as a bug',
            },
          ];
  }
}

function liveReasons(tier: TierEvidence): Reason[] {
  const reasons: Reason[] = [];
  if (tier.quarantined > 0) {
    reasons.push({
      code: 'quarantined',
      message: `${formatCount(tier.quarantined)} of ${formatCount(tier.envs)} envs were quarantined${tier.firstFailure === null ? '' : `; the first: ${firstLine(tier.firstFailure)}`}`,
      advice: 'the events name each env, operation and value; repair the kind, check it with: npm run -s envladder -- env check KIND',
    });
  }
  if (tier.live + tier.quarantined < tier.envs && (tier.cutShort === null || tier.cutShort === 'slo')) {
    reasons.push({
      code: 'not-live',
      message: `${formatCount(tier.live)} of ${formatCount(tier.envs)} envs were live at the end`,
      advice: 'see worker deaths in the report; the tier measured fewer envs than it says',
    });
  }
  return reasons;
}

function learnerReasons(tier: TierEvidence): Reason[] {
  if (tier.cutShort !== null) return [];
  if (tier.consumed <= 0) {
    return [
      {
        code: 'nothing-consumed',
        message: `the learner took no frame at ${formatCount(tier.envs)} envs`,
        advice: 'raise --seconds; if it repeats, see the learner in events.sqlite',
      },
    ];
  }
  if (tier.learner === 'ppo' && tier.updates < tier.minUpdates) {
    return [
      {
        code: 'no-update',
        message: `${tier.updates === 0 ? 'no policy update' : `${tier.updates} of at least ${tier.minUpdates} policy updates`} finished in ${tier.seconds.toFixed(1)} s with ${formatCount(tier.envs)} envs`,
        advice:
          'raise --seconds, lower ppo.horizon, install a faster backend (npm run setup:tfjs-node), or measure sampling alone with --learner random',
      },
    ];
  }
  return [];
}

/** A tier that was cut short, or lost envs, says so already. */
function stillReasons(tier: TierEvidence): Reason[] {
  const { leastFrames: least, minStepsPerEnv } = tier;
  if (least === null || least.frames >= minStepsPerEnv || tier.cutShort !== null || tier.lostRanges > 0) return [];
  return [
    {
      code: 'env-stood-still',
      message: `env ${least.envId} published ${formatCount(least.frames)} frames in ${tier.seconds.toFixed(1)} s, at least ${formatCount(minStepsPerEnv)} per env were planned`,
      advice:
        'raise --seconds, look for what blocks that env with npm run -s envladder -- env check KIND, or lower minStepsPerEnv in the plan',
    },
  ];
}

function dataReasons(tier: TierEvidence): Reason[] {
  const reasons: Reason[] = [];
  const bug = 'a data-path bug: keep the run folder and report it';
  if (tier.torn > 0)
    reasons.push({ code: 'torn', message: `${formatCount(tier.torn)} torn reads at ${formatCount(tier.envs)} envs`, advice: bug });
  if (tier.outOfOrder > 0)
    reasons.push({
      code: 'out-of-order',
      message: `${formatCount(tier.outOfOrder)} frames out of order at ${formatCount(tier.envs)} envs`,
      advice: bug,
    });
  const gap = balanceGap(tier.balance);
  if (gap !== 0) reasons.push(unbalanced(gap, ` at ${formatCount(tier.envs)} envs`));
  return reasons;
}

function deathReasons(tier: TierEvidence): Reason[] {
  const reasons = tier.faultsPlanned ? [] : deathReasonsOf(tier.deaths);
  if (tier.lostRanges > 0) {
    reasons.push({
      code: 'range-lost',
      message: `${tier.lostRanges} range(s) of envs were given up after their worker died again`,
      advice: 'see the deaths in the report',
    });
  }
  return reasons;
}

/** Deaths with a known cause whose range came back: told, and no reason against the tier. */
export function deathWarnings(tier: Pick<TierEvidence, 'deaths' | 'faultsPlanned'>): Reason[] {
  if (tier.faultsPlanned) return [];
  return tier.deaths
    .filter(isExplained)
    .map((death) => ({ code: `${death.role}-restarted`, message: describeDeath(death), advice: adviceForDeath(death) }));
}

function lagReasons({ scheduleLag: lag, envs }: TierEvidence): Reason[] {
  if (lag === null || lag.p99Ms <= lag.limitMs) return [];
  return [
    {
      code: 'schedule-lag',
      message: `at ${formatCount(envs)} envs one step in a hundred was let go more than ${lag.p99Ms.toFixed(1)} ms after its time; ${lag.limitMs.toFixed(1)} ms are allowed`,
      advice: 'the load was not the one that was planned: lower rate, give the learner a core of its own, or raise quiet.maxScheduleLagMs',
    },
  ];
}

/** Judges one tier. */
export function judgeTier(tier: TierEvidence): Validity {
  return verdictOf([
    ...durationReasons(tier),
    ...liveReasons(tier),
    ...learnerReasons(tier),
    ...stillReasons(tier),
    ...dataReasons(tier),
    ...deathReasons(tier),
    ...tier.loadReasons,
    ...lagReasons(tier),
  ]);
}
