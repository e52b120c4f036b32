// Control messages between supervisor and its children. Nothing here is on the step path: frames and actions never travel by message.
import type { CheckLevel } from './check-level.js';
import type { Breach } from './env.js';
import type { AutoresetMode } from './frame-flags.js';
import type { HealthPlan, Isolation } from './plan-health.js';
import type { PpoConfig } from './ppo-config.js';
import type { DropReason, KindTotals, LearnerSnapshot } from './snapshot.js';
import type { Spaces } from './spaces.js';

/** Structure of one worker's segment; mirrors SegmentSpec of harness/memory, which stays out of the contract. */
export type SegmentSpecMessage = Readonly<Record<string, unknown>>;

export interface EntryMessage {
  readonly name: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly spaces: Spaces;
  /** Resolved: the mix entry's word, else the kind's, else inline. */
  readonly isolation: Isolation;
  /** Seconds per operation: the mix entry's, else the plan's, else `stepDeadlineSeconds`. */
  readonly deadlines: OperationDeadlines;
}

export interface OperationDeadlines {
  readonly construct: number;
  readonly reset: number;
  readonly step: number;
  readonly close: number;
}

/** What a child says about itself once a second, unasked: the application's view of its health. It decides nothing. */
export interface ChildReport {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly fds: number;
  /** Longest delay of the event loop since the last report. */
  readonly loopLagMsMax: number;
  /** Frames published in this life (worker) or taken (learner). */
  readonly frames: number;
}

interface ChildStart {
  readonly type: 'start';
  readonly runId: string;
  readonly parentPid: number;
  /** Worker seats of the run; the control page has one line more, the learner's. */
  readonly workers: number;
  readonly controlFd: number;
  readonly errorsFd: number;
  readonly seed: number;
  readonly autoreset: AutoresetMode;
  readonly entries: readonly EntryMessage[];
}

/** What earlier lives of a worker leave behind about single envs. */
export type EnvsOut = Pick<WorkerStart, 'barred' | 'retired' | 'slotBySlot'>;

export interface WorkerStart extends ChildStart {
  readonly role: 'worker';
  readonly worker: number;
  readonly epoch: number;
  readonly segment: SegmentSpecMessage;
  readonly segmentFd: number;
  readonly check: CheckLevel;
  readonly constructParallel: number;
  readonly module: string | null;
  /** Mix entry (index into entries) of each block, in the order of the segment's blocks. Elsewhere blocks go by id. */
  readonly blockEntries: readonly number[];
  /** Blocks to take up at once (all live ones, after a restart). */
  readonly blocks: readonly number[];
  /** Env ids that must not be built again: they took the last life of this worker with them. */
  readonly barred: readonly number[];
  /** Env ids quarantined in earlier lives: they stay out. */
  readonly retired: readonly number[];
  /** Budgets and pauses for building failed envs anew. */
  readonly health: HealthPlan;
  /** How often an env failed in earlier lives, newest failure last: [env id, CLOCK_MONOTONIC ms of each failure within the budget's window]. */
  readonly failed: readonly (readonly [number, readonly number[]])[];
  /** Env ids whose ranges are stepped one by one, although their kind has `stepMany`: a run that began there took the last life with it. */
  readonly slotBySlot: readonly number[];
}

export type ToWorker =
  | WorkerStart
  /** `out`: to a process that booted beside the one it replaces, whose start message is older than its range. */
  | { readonly type: 'grow'; readonly blocks: readonly number[]; readonly out?: EnvsOut }
  /** Takes an env out, as if it had used up its budget. */
  | { readonly type: 'quarantine'; readonly envId: number; readonly reason: string }
  /** Builds a quarantined or cooling env anew, its budget forgotten. */
  | { readonly type: 'release'; readonly envId: number }
  | { readonly type: 'stop' };

export interface EnvFailure {
  readonly envId: number;
  readonly entry: string;
  readonly code: string;
  readonly operation: Breach['operation'];
  readonly message: string;
  readonly breach?: Breach;
  /** What becomes of the env: built anew at once or after a pause, paused for its cool-down, or out of the run. */
  readonly fate: 'rebuild' | 'cool-down' | 'quarantine';
}

export type FromWorker =
  | { readonly type: 'ready'; readonly pid: number }
  | { readonly type: 'block-built'; readonly block: number; readonly built: number; readonly failed: number; readonly seconds: number }
  /** Batched, so that thousands of failing envs are a few messages: the first of a batch in full, the rest by id. */
  | {
      readonly type: 'env-failures';
      readonly failures: readonly EnvFailure[];
      /** The rest of the batch, by fate. */
      readonly also: Readonly<Record<EnvFailure['fate'], readonly number[]>>;
    }
  /** Envs that failed before are built anew and step again. */
  | { readonly type: 'env-rebuilt'; readonly envIds: readonly number[] }
  /** Answers to `quarantine` and `release`. */
  | { readonly type: 'env-changed'; readonly envId: number; readonly now: 'quarantined' | 'released' | 'not-out' | 'unknown-env' }
  | { readonly type: 'report'; readonly report: ChildReport }
  | { readonly type: 'fatal'; readonly code: string; readonly message: string }
  | { readonly type: 'stopped'; readonly frames: number };

export interface LearnerStart extends ChildStart {
  readonly role: 'learner';
  readonly mode: 'ppo' | 'random' | 'none';
  readonly backend: 'auto' | 'tfjs-node-gpu' | 'tfjs-node' | 'wasm';
  readonly segments: readonly { readonly spec: SegmentSpecMessage; readonly fd: number; readonly blockEntries: readonly number[] }[];
  readonly ppo: PpoConfig;
  /** Time between two steps of an env; 0: as fast as it goes. */
  readonly stepPeriodMs: number;
  /** Folder for checkpoints; null = none are written. */
  readonly checkpointDir: string | null;
  /** Checkpoint folder to resume from. */
  readonly resume: string | null;
  /** 0 for the first learner of the run, then rising with every restart. */
  readonly life: number;
  /** A restarted learner counts on from here; null in the first life. Frames its predecessors took beyond it are dropped as `learner-died`. */
  readonly base: LearnerBase | null;
  /** Blocks that are live already, to be read from the start: [worker, block]. */
  readonly adopt: readonly (readonly [number, number])[];
  /** Blocks given up in earlier lives: their frames are part of the sums, they are not read. Their segments must still be listed. */
  readonly lost?: readonly (readonly [number, number])[];
}

/** Counts of the lives before: the last snapshot, which may be given as it is, and the last per-env statistics. */
export interface LearnerBase {
  readonly trained: number;
  readonly evaluated: number;
  readonly superseded: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  readonly updates: number;
  readonly batches: number;
  readonly bytesCopied: number;
  readonly torn: number;
  readonly outOfOrder: number;
  readonly kinds: Readonly<Record<string, KindTotals>>;
  /** Left out: zero, and the latency of earlier lives is lost. */
  readonly batchFill?: LearnerSnapshot['batchFill'];
  readonly phaseSeconds?: LearnerSnapshot['phaseSeconds'];
  readonly latency?: LearnerSnapshot['latency'];
  readonly response?: LearnerSnapshot['response'];
  readonly lag?: LearnerSnapshot['lag'];
  readonly envStats?: EnvStats | null;
}

/**
 * Per-env episode statistics, absolute since the run began, indexed like `envIds`. Sent every ENV_STATS_SECONDS and at stop. `lastReturn` is
 * NaN before an env's first episode has ended.
 */
export interface EnvStats {
  readonly envIds: Int32Array;
  readonly episodes: Float64Array;
  readonly returnSum: Float64Array;
  readonly lengthSum: Float64Array;
  readonly lastReturn: Float64Array;
}
export const ENV_STATS_SECONDS = 10;

export type ToLearner =
  | LearnerStart
  /** New blocks of a tier, as [worker, block] pairs. The latency histogram starts anew. */
  | { readonly type: 'grow'; readonly tier: number; readonly blocks: readonly (readonly [number, number])[] }
  /** The tier's measured time begins: the latency histogram starts anew. */
  | { readonly type: 'measure'; readonly tier: number }
  /** Blocks whose worker will not come back. */
  | { readonly type: 'drop'; readonly blocks: readonly (readonly [number, number])[] }
  /** A worker's segment was replaced by one with the same spec: open it at `path` (the supervisor's /proc/PID/fd/N) and read on there. */
  | { readonly type: 'replace-segment'; readonly worker: number; readonly path: string }
  /** Ends the quarantine of an env's row. */
  | { readonly type: 'release'; readonly envId: number }
  | { readonly type: 'snapshot'; readonly id: number }
  | { readonly type: 'checkpoint'; readonly reason: string }
  /** Settle what can be settled, checkpoint, answer `stopped` and exit. */
  | { readonly type: 'stop'; readonly deadlineMs: number };

export type FromLearner =
  | {
      readonly type: 'ready';
      readonly pid: number;
      readonly backend: string;
      readonly backendVersion: string;
      readonly resumedFrom: string | null;
    }
  /** First batch that held a frame of the tier's new blocks. */
  | { readonly type: 'first-batch'; readonly tier: number; readonly monotonicMs: number }
  | { readonly type: 'snapshot'; readonly id: number; readonly snapshot: LearnerSnapshot }
  /** Once a second, unasked. */
  | { readonly type: 'stats'; readonly snapshot: LearnerSnapshot; readonly report: ChildReport }
  | { readonly type: 'env-stats'; readonly stats: EnvStats }
  /** The old segment of this worker is let go. */
  | { readonly type: 'segment-replaced'; readonly worker: number }
  | { readonly type: 'checkpoint'; readonly path: string; readonly bytes: number; readonly seconds: number; readonly reason: string }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'fatal'; readonly code: string; readonly message: string }
  | { readonly type: 'stopped'; readonly snapshot: LearnerSnapshot };
