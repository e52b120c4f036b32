// Judges one worker seat from its progress line, sample by sample: stopped, hung in an operation, blocked, or merely waiting. Pure; fed by
// crew-watch.ts. Only observed time counts: neither the supervisor's own sleep nor a stopped or throttled worker's is held against an
// operation. Its measure is the native beat: time between two beats that are close together was time the process could use.
//
//   native stamp stale                          suspect; after frozenMs of it: frozen
//   native fresh, operation older than allowed  hung (deadline of that operation for that env)
//   native fresh, none in work, loop stale      blocked after blockedMs
//   all fresh                                   ok, or waiting when nothing was published for a while
import type { OperationDeadlines } from '../contract/messages.js';
import type { OpName, Progress } from '../memory/control.js';
import type { WorkerVerdict } from './crew.js';

/** The native thread of a process beats this often. */
export const BEAT_MS = 50;
/** Three missed beats could be a busy machine; a quarter of a second is beyond what its scheduler does to a runnable thread. */
export const STALE_MS = 250;
/** Two beats further apart than this were no time for work in between: so a pause, however short, is held against nobody for longer. */
export const MOST_COUNTED_MS = 2 * BEAT_MS;
/** Nothing published for this long while all is well is called waiting. */
const WAITING_MS = 1000;
/** A gap between two looks counts as at most this many intervals. */
const COUNTED_INTERVALS = 2;

export interface JudgeLimits {
  readonly frozenMs: number;
  readonly blockedMs: number;
  /** How often `look` is meant to be called. */
  readonly intervalMs: number;
}

export interface KillCause {
  readonly cause: 'deadline' | 'frozen' | 'blocked';
  readonly op: OpName;
  readonly envId: number;
  readonly span: number;
  /** From the last sign of life that counted to this look. */
  readonly detectMs: number;
  readonly limitMs: number;
}

export interface Judgement {
  readonly verdict: WorkerVerdict;
  /** Set once the worker must go. Stays set as long as it is so: whether it is obeyed now is the caller's business. */
  readonly kill: KillCause | null;
}

export interface LivenessJudge {
  /**
   * `deadlines` are those of the env in work, null when its entry is not known (judged by none). `uncounted`: this time is nobody's fault
   * (throttled, or killing is suspended).
   */
  look(nowMs: number, progress: Progress, deadlines: OperationDeadlines | null, uncounted?: 'throttled' | 'suspended' | null): Judgement;
}

const FINE: Judgement = { verdict: 'ok', kill: null };
const WAITING: Judgement = { verdict: 'waiting', kill: null };
const SUSPECT: Judgement = { verdict: 'suspect', kill: null };
const THROTTLED: Judgement = { verdict: 'throttled', kill: null };

/** One judge for one life of a worker: a new life gets a new one. */
export function createLivenessJudge({ frozenMs, blockedMs, intervalMs }: JudgeLimits): LivenessJudge {
  let lookedMs: number | null = null;
  let beatMs = 0;
  /** Observed time without a beat. */
  let stillMs = 0;
  /** What is in work: an operation of an env, or (idle) the turn of the event loop. */
  let op: OpName = 'idle';
  let envId = -1;
  let span = 1;
  let sinceMs = 0;
  /** Time held against it up to the newest beat. */
  let heldMs = 0;
  let frames = -1;
  let movedMs = 0;

  return {
    look(nowMs, progress, deadlines, uncounted = null) {
      const elapsedMs = lookedMs === null ? 0 : nowMs - lookedMs;
      lookedMs = nowMs;
      const since = progress.op === 'idle' ? progress.loopMs : progress.opMs;
      if (op !== progress.op || envId !== progress.envId || sinceMs !== since) {
        ({ op, envId, span } = progress);
        sinceMs = since;
        heldMs = 0;
      }
      const lastBeatMs = beatMs;
      // One that has never beaten is judged by its operations alone.
      beatMs = progress.nativeMs === 0 ? nowMs : progress.nativeMs;
      const gapMs = beatMs - lastBeatMs;
      if (gapMs !== 0) stillMs = 0;
      else if (uncounted === null) stillMs += Math.min(elapsedMs, COUNTED_INTERVALS * intervalMs);
      if (uncounted === null && gapMs > 0) heldMs += Math.min(MOST_COUNTED_MS, beatMs - Math.max(lastBeatMs, Math.min(sinceMs, beatMs)));
      if (frames !== progress.frames) {
        frames = progress.frames;
        movedMs = nowMs;
      }

      if (stillMs > frozenMs) {
        const kill = { cause: 'frozen', op, envId, span, detectMs: nowMs - beatMs, limitMs: frozenMs } as const;
        return { verdict: 'frozen', kill };
      }
      if (uncounted === 'throttled') return THROTTLED;
      if (stillMs > STALE_MS) return SUSPECT;
      const inWorkMs = heldMs + (uncounted === null ? Math.min(MOST_COUNTED_MS, Math.max(0, nowMs - Math.max(beatMs, sinceMs))) : 0);
      if (op === 'idle') {
        if (inWorkMs > blockedMs) {
          return { verdict: 'blocked', kill: { cause: 'blocked', op, envId, span, detectMs: nowMs - sinceMs, limitMs: blockedMs } };
        }
        return nowMs - movedMs > WAITING_MS ? WAITING : FINE;
      }
      const limitMs = deadlines === null ? Number.POSITIVE_INFINITY : deadlines[op] * 1000;
      if (inWorkMs <= limitMs) return FINE;
      return { verdict: 'hung', kill: { cause: 'deadline', op, envId, span, detectMs: nowMs - sinceMs, limitMs } };
    },
  };
}
