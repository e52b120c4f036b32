// What the ladder sees of the running processes: one learner, W workers, their shared memory. The ladder decides what to climb; the
// crew makes it so, watches it, and reports every death. Made by `raiseCrew` (raise-crew.ts).

import type { CtlAnswer, CtlCommand } from '../contract/ctl.js';
import type { ChildReport, EntryMessage, EnvStats } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import type { RunEventType } from '../contract/run-events.js';
import type { Death } from '../contract/run-record.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { ErrorCell, OpName } from '../memory/control.js';

export interface CrewOptions {
  readonly runId: string;
  readonly plan: Plan;
  /** One per mix entry, spaces resolved. */
  readonly entries: readonly EntryMessage[];
  /** Absolute path or null; workers import it themselves. */
  readonly module: string | null;
  readonly checkpointDir: string | null;
  readonly resume: string | null;
  /** Every lifecycle event, in order. Must not throw. */
  readonly onEvent: (event: CrewEvent) => void;
  readonly onDeath: (death: Death) => void;
  /** Once a second from the learner. */
  readonly onStats: (snapshot: LearnerSnapshot) => void;
}

/** A RunEvent without its clock fields: the ladder stamps them. */
export interface CrewEvent {
  readonly type: RunEventType;
  readonly message: string;
  readonly worker?: number;
  readonly envId?: number;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface TierStart {
  /** From the call of `growTo` to the learner's first batch holding a new env; null if it never came. */
  readonly timeToFirstBatchS: number | null;
  /** From the call to the moment every env of the tier is live or quarantined; null if the start deadline passed. */
  readonly timeToAllLiveS: number | null;
}

export interface CrewScan {
  readonly published: number;
  readonly taken: number;
  readonly live: number;
  readonly quarantined: number;
}

/** What the supervisor makes of one worker, from the kernel and its progress line. */
export type WorkerVerdict = 'ok' | 'starting' | 'waiting' | 'suspect' | 'throttled' | 'hung' | 'frozen' | 'blocked' | 'dead' | 'lost';

export interface WorkerHealth {
  readonly worker: number;
  readonly pid: number | null;
  readonly epoch: number;
  readonly verdict: WorkerVerdict;
  readonly envId: number;
  readonly op: OpName;
  /** Ages at the time of the look, in milliseconds. */
  readonly nativeAgeMs: number;
  readonly loopAgeMs: number;
  readonly opAgeMs: number;
  readonly restarts: number;
  /** Restarts left in the budget's window. */
  readonly budgetLeft: number;
  /** Newest report of the process itself; null before the first. */
  readonly report: ChildReport | null;
}

/** One look at everything alive. Made when asked, from shared memory and what the children said last. */
export interface CrewHealth {
  readonly workers: readonly WorkerHealth[];
  readonly learner: { readonly pid: number | null; readonly restarts: number; readonly report: ChildReport | null };
  /** Why nothing is killed at present; null = judging goes on. */
  readonly suspended: string | null;
  /** By env id: failures that were answered by building anew, over the whole run. */
  readonly rebuilds: Uint32Array;
  /** By env id: times its worker died or its env failed, over the whole run. */
  readonly failures: Uint32Array;
  /** Operations that outlived their deadline, by operation. */
  readonly deadlinesMissed: Readonly<Record<'construct' | 'reset' | 'step' | 'close', number>>;
  /** Newest per-env episode statistics of the learner; null before the first. */
  readonly envStats: EnvStats | null;
}

export interface RoleMemory {
  readonly pssBytes: number;
  readonly processes: number;
}

export interface CrewEnd {
  /** Null when the learner could not answer any more. */
  readonly snapshot: LearnerSnapshot | null;
  /** Counts after every writer was gone. */
  readonly scan: CrewScan;
  /** Children that had to be killed at the deadline. */
  readonly killed: readonly string[];
}

export interface Crew {
  readonly backend: string | null;
  readonly backendVersion: string | null;
  readonly resumedFrom: string | null;
  readonly restarts: number;
  /** Set once the run cannot go on (learner dead, all workers lost, fatal error in a child): why. Resolves `failed` too. */
  readonly failed: Promise<Error>;
  /** Allocates, pre-faults and starts the envs of tier `tier` (index into plan.tiers); earlier ones go on stepping. */
  growTo(tier: number): Promise<TierStart>;
  /** Starts the tier's measured time: the latency histogram begins anew. */
  measure(tier: number): Promise<LearnerSnapshot>;
  snapshot(): Promise<LearnerSnapshot>;
  scan(): CrewScan;
  /** ENV_STATE_CODE of every planned env, by env id. The array is reused by the next call; after `stop` it says what was seen last. */
  envStates(): Uint8Array;
  /** Frames published by every planned env since the run began, by env id; NaN for one that does not count. Empty after `stop`. */
  envFrames(): Float64Array;
  /** PSS by role: supervisor, learner, workers (smaps_rollup). */
  memory(): Record<string, RoleMemory>;
  /** Bytes of shared memory allocated so far. */
  shmBytes(): number;
  checkpoint(reason: string): void;
  health(): CrewHealth;
  /** Hard limit of the memory group that a worker's process lies in; null: it has none. */
  memoryMaxBytes(worker: number): number | null;
  /** Error tables of all lines, as they are now (line index = worker; the last is the learner's). */
  errors(): readonly { readonly cells: readonly ErrorCell[]; readonly lost: number }[];
  /** Obeys a command of a person or tool. Never rejects: a refusal is an answer. */
  obey(command: CtlCommand): Promise<CtlAnswer>;
  /** Learner settles and checkpoints, workers finish their step and close, all within `drainMs`; then SIGKILL. Never rejects. */
  stop(drainMs: number): Promise<CrewEnd>;
}
