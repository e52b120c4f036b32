// What a worker died of, and whether the env in work is to blame for it. Pure. An env is charged only for what an env can do: outlive a
// deadline, crash, or leave. A kill from outside, a frozen machine or a full memory group says nothing about the env that was in work.
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { Progress } from '../memory/interface.js';
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

/** Env to be charged with the death, or null. `code` is the exit code, null when a signal ended it. */
export function envToCharge(cause: string, code: number | null, progress: Pick<Progress, 'envId' | 'op'>): number | null {
  if (progress.envId < 0 || progress.op === 'idle') return null;
  const left = code !== null && !OWN_EXITS.includes(code) && cause.startsWith('exit code');
  return cause === 'deadline' || CRASHES.has(cause) || left ? progress.envId : null;
}

export interface DeathFacts {
  readonly cause: string;
  /** From the last sign of life that counted to now. */
  readonly detectMs: number;
  /** The line as it was when the death was decided. */
  readonly progress: Progress;
  readonly charged: number | null;
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
    const at = { ...progress, op: judged.op, envId: judged.envId };
    return {
      cause,
      detectMs: judged.detectMs,
      progress: at,
      charged: envToCharge(cause, status.code, at),
      detail: { limit_ms: judged.limitMs },
    };
  }
  const detectMs = killed === null ? Math.max(0, nowMs - (progress.nativeMs || nowMs)) : 0;
  return { cause, detectMs, progress, charged: envToCharge(cause, status.code, progress), detail: {} };
}
