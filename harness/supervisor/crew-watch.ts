// Looks at every progress line many times a second and ends who must go; what follows is the post's business, as for any death. Also looks
// once a second whether the shared memory is still whole. A look at 64 seats costs tens of microseconds (measured by npm run bench).
import type { HealthPlan } from '../contract/plan-health.js';
import type { Control } from '../memory/control.js';
import { monotonicMs } from './clock.js';
import type { CrewEvent, WorkerVerdict } from './crew.js';
import { createKillSuspension } from './kill-suspension.js';
import type { LearnerPost } from './learner-post.js';
import { createLivenessJudge, type LivenessJudge } from './liveness-judge.js';
import type { WorkerPost } from './post.js';
import type { SeatCgroup } from './seat-cgroup.js';

/** A hang must be found within 50 ms of its deadline: two looks and the timer's own lateness fit into that. */
export const LOOK_MS = 15;
/** A suspicion of this length is told; shorter ones are seen in `health` alone. */
const TOLD_MS = 1000;
/** Reading cpu.stat is a system call per seat. */
const THROTTLE_LOOK_MS = 250;
const DAMAGE_LOOK_MS = 1000;
/** The learner may be stopped for longer than a worker: an update on a loaded machine, a checkpoint on a slow disk. */
const LEARNER_PATIENCE = 3;
/** An update blocks its event loop; none of a sane plan takes this long. */
const LEARNER_BLOCKED_MS = 120_000;

export interface CrewWatchOptions {
  readonly posts: readonly WorkerPost[];
  readonly learner: Pick<LearnerPost, 'up' | 'kill' | 'life'>;
  readonly control: Control;
  readonly health: HealthPlan;
  /** False: lateness is told, and somebody else decides (health.mode account). */
  readonly judges: boolean;
  readonly cgroupOf: (worker: number) => Pick<SeatCgroup, 'throttled'> | null;
  /** Seats that are held still on purpose. */
  readonly isAsleep: (worker: number) => boolean;
  readonly emit: (event: CrewEvent) => void;
  readonly now?: () => number;
}

export interface CrewWatch {
  verdictOf(worker: number): WorkerVerdict;
  /** Why nothing is killed at present. */
  readonly suspended: string | null;
  /** One look; called by its own timer. */
  look(): void;
  end(): void;
}

interface Sight {
  epoch: number;
  judge: LivenessJudge;
  verdict: WorkerVerdict;
  suspectMs: number | null;
  told: boolean;
  throttled: number | null;
  isThrottled: boolean;
}

const OF_STATE = { starting: 'starting', waiting: 'dead', ending: 'dead', lost: 'lost', stopped: 'lost' } as const;

export function watchCrew(options: CrewWatchOptions): CrewWatch {
  const { posts, learner, control, health, emit, now = monotonicMs } = options;
  const limits = { frozenMs: health.frozenSeconds * 1000, blockedMs: health.blockedSeconds * 1000, intervalMs: LOOK_MS };
  const toldMs = Math.min(TOLD_MS, limits.frozenMs / 2);
  const suspension = createKillSuspension(health.suspend);
  const learnerLimits = { frozenMs: LEARNER_PATIENCE * limits.frozenMs, blockedMs: LEARNER_BLOCKED_MS, intervalMs: LOOK_MS };
  let learnerJudge = createLivenessJudge(learnerLimits);
  let learnerLife = 0;
  let throttleMs = 0;
  let damageMs = 0;
  const newSight = (epoch: number): Sight => ({
    epoch,
    judge: createLivenessJudge(limits),
    verdict: 'starting',
    suspectMs: null,
    told: false,
    throttled: null,
    isThrottled: false,
  });
  const sights = posts.map(() => newSight(-1));

  /** A new life is judged anew. */
  function sightOf({ worker, epoch }: WorkerPost): Sight {
    let sight = sights[worker] as Sight;
    if (sight.epoch !== epoch) {
      sight = newSight(epoch);
      sights[worker] = sight;
    }
    return sight;
  }

  function lookAtThrottling(nowMs: number): void {
    if (nowMs - throttleMs < THROTTLE_LOOK_MS) return;
    throttleMs = nowMs;
    for (const post of posts) {
      const cgroup = options.cgroupOf(post.worker);
      if (cgroup === null) continue;
      const sight = sightOf(post);
      const throttled = cgroup.throttled();
      sight.isThrottled = sight.throttled !== null && throttled > sight.throttled;
      sight.throttled = throttled;
    }
  }

  function lookAtMemory(nowMs: number): void {
    if (nowMs - damageMs < DAMAGE_LOOK_MS) return;
    damageMs = nowMs;
    for (const post of posts) {
      const damage = post.state === 'up' ? post.segment.damaged() : null;
      if (damage === null) continue;
      emit({
        type: 'alarm',
        message: `the memory of worker ${post.worker} is damaged: ${damage}`,
        worker: post.worker,
        detail: { damage },
      });
      post.condemn('its memory is damaged');
    }
  }

  function tellSuspicion(post: WorkerPost, sight: Sight, nowMs: number, nativeMs: number): void {
    const { worker } = post;
    const late = sight.verdict === 'suspect' || sight.verdict === 'frozen';
    if (late) {
      sight.suspectMs ??= nowMs;
      if (sight.told || nowMs - sight.suspectMs < toldMs) return;
      sight.told = true;
      const staleMs = Math.round(nowMs - nativeMs);
      emit({
        type: 'worker-suspect',
        message: `worker ${worker} gives no sign of life for ${staleMs} ms: stopped or starved`,
        worker,
        detail: { native_age_ms: staleMs, epoch: post.epoch },
      });
      return;
    }
    if (sight.told) {
      const suspectMs = Math.round(nowMs - (sight.suspectMs ?? nowMs));
      emit({
        type: 'worker-cleared',
        message: `worker ${worker} gives signs of life again after ${suspectMs} ms`,
        worker,
        detail: { suspect_ms: suspectMs, epoch: post.epoch },
      });
    }
    sight.suspectMs = null;
    sight.told = false;
  }

  function suspend(nowMs: number, late: number, watched: number): void {
    const change = suspension.look(nowMs, late, watched);
    if (change === 'suspended')
      emit({ type: 'kills-suspended', message: `nothing is killed for now: ${suspension.reason}`, detail: { late, workers: watched } });
    else if (change !== null) {
      const why = change === 'expired' ? `it lasted ${health.suspend.limitSeconds} s, the longest allowed` : 'few or none are late now';
      emit({
        type: 'kills-resumed',
        message: `late workers are killed again: ${why}`,
        detail: { late, workers: watched, expired: change === 'expired' },
      });
    }
  }

  function lookAtLearner(nowMs: number): void {
    if (!learner.up) return;
    if (learner.life !== learnerLife) {
      learnerLife = learner.life;
      learnerJudge = createLivenessJudge(learnerLimits);
    }
    const { kill } = learnerJudge.look(nowMs, control.progress(posts.length), null, suspension.reason === null ? null : 'suspended');
    if (kill !== null && options.judges && suspension.reason === null) learner.kill(kill.cause);
  }

  function look(): void {
    const nowMs = now();
    lookAtThrottling(nowMs);
    let late = 0;
    let watched = 0;
    for (const post of posts) {
      const sight = sightOf(post);
      if (post.state !== 'up') {
        sight.verdict = OF_STATE[post.state];
        continue;
      }
      const progress = control.progress(post.worker);
      post.observe(nowMs, progress);
      if (options.isAsleep(post.worker)) {
        sight.judge = createLivenessJudge(limits);
        sight.verdict = 'waiting';
        continue;
      }
      watched++;
      const uncounted = sight.isThrottled ? 'throttled' : suspension.reason === null ? null : 'suspended';
      const { verdict, kill } = sight.judge.look(nowMs, progress, post.deadlinesOf(progress.envId), uncounted);
      sight.verdict = verdict;
      if (verdict === 'suspect' || verdict === 'frozen') late++;
      tellSuspicion(post, sight, nowMs, progress.nativeMs);
      // `suspended` is of the look before: a burst of late workers is seen as one before the first of them could be due.
      if (kill !== null && options.judges && suspension.reason === null) post.kill(kill.cause, kill);
    }
    suspend(nowMs, late, watched);
    lookAtLearner(nowMs);
    lookAtMemory(nowMs);
  }

  const timer = setInterval(look, LOOK_MS);
  return {
    verdictOf: (worker) => sights[worker]?.verdict ?? 'lost',
    get suspended() {
      return suspension.reason;
    },
    look,
    end: () => clearInterval(timer),
  };
}
