// What a worker died of, and whether the env in work is to blame for it. Pure. An env is charged only for what an env can do: outlive a
// deadline, crash, or leave. A kill from outside, a frozen machine or a full memory group says nothing about the env that was in work; and
// where a `stepMany` was at work on many, nobody knows which of them it was.
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { Progress } from '../memory/control.js';
import type { ExitStatus } from './spawn.js';
import type { WorkerLife } from './worker-life.js';

/** Signals that a process raises against itself by what its code does. */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP']);
/** Exit codes of our own child code, which say that the harness and no env ended it. */
const OWN_EXITS: readonly number[] = [CHILD_EXIT.fatal, CHILD_EXIT.fenced, CHILD_EXIT.orphaned];

/** `killed`: why the supervisor ended it, null when it did not. `oomKills`: kills that its memory group counted in this life. */
export function deathCause(status: Pick<ExitStatus, 'cause' | 'signal'>, killed: string | null, oomKills: number): string {
  if (killed !== null) return killed;
  return oomKills > 0 && status.signal === 'SIGKILL' ? 'oom' : status.cause;
}

/** What is held against envs: `charged` is the env to blame; `suspects` names a run of `stepMany` (by its first env) one of which is. */
export interface Blame {
  readonly charged: number | null;
  readonly suspects: number | null;
}

/** `code` is the exit code, null when a signal ended it. */
export function blameEnvs(cause: string, code: number | null, progress: Pick<Progress, 'envId' | 'op' | 'span'>): Blame {
  const { envId } = progress;
  if (envId < 0 || progress.op === 'idle') return { charged: null, suspects: null };
  const left = code !== null && !OWN_EXITS.includes(code) && cause.startsWith('exit code');
  const guilty = cause === 'deadline' || CRASHES.has(cause) || left;
  const alone = progress.span <= 1;
  return { charged: guilty && alone ? envId : null, suspects: guilty && !alone ? envId : null };
}

export interface DeathFacts extends Blame {
  readonly cause: string;
  /** From the last sign of life that counted to now. */
  readonly detectMs: number;
  /** The line as it was when the death was decided. */
  readonly progress: Progress;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** `progress`: the worker's line after its death. */
export function lookAtDeath(
  life: Pick<WorkerLife, 'killed' | 'oomKills'>,
  status: ExitStatus,
  progress: Progress,
  nowMs: number,
): DeathFacts {
  const { killed } = life;
  const cause = deathCause(status, killed?.cause ?? null, life.oomKills());
  const judged = killed?.judged;
  if (judged !== undefined) {
    const at = { ...progress, op: judged.op, envId: judged.envId, span: judged.span };
    return {
      cause,
      detectMs: judged.detectMs,
      progress: at,
      ...blameEnvs(cause, status.code, at),
      detail: { limit_ms: judged.limitMs },
    };
  }
  const detectMs = killed === null ? Math.max(0, nowMs - (progress.nativeMs || nowMs)) : 0;
  return { cause, detectMs, progress, ...blameEnvs(cause, status.code, progress), detail: {} };
}
