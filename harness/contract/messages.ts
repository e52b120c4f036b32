// Control messages between supervisor and its children. Nothing here is on the step path: frames and actions never travel by message.
import type { CheckLevel } from './check-level.js';
import type { Breach } from './env.js';
import type { AutoresetMode } from './frame-flags.js';
import type { PpoConfig } from './ppo-config.js';
import type { LearnerSnapshot } from './snapshot.js';
import type { Spaces } from './spaces.js';

/** Structure of one worker's segment; mirrors SegmentSpec of harness/memory, which stays out of the contract. */
export type SegmentSpecMessage = Readonly<Record<string, unknown>>;

export interface EntryMessage {
  readonly name: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly spaces: Spaces;
}

interface ChildStart {
  readonly type: 'start';
  readonly runId: string;
  readonly parentPid: number;
  readonly workers: number;
  readonly controlFd: number;
  readonly seed: number;
  readonly autoreset: AutoresetMode;
  readonly entries: readonly EntryMessage[];
}

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
  /** A constructor that promises longer than this is given up, its env quarantined. */
  readonly constructDeadlineSeconds: number;
}

export type ToWorker = WorkerStart | { readonly type: 'grow'; readonly blocks: readonly number[] } | { readonly type: 'stop' };

export interface EnvFailure {
  readonly envId: number;
  readonly entry: string;
  readonly code: string;
  readonly operation: Breach['operation'];
  readonly message: string;
  readonly breach?: Breach;
}

export type FromWorker =
  | { readonly type: 'ready'; readonly pid: number }
  | { readonly type: 'block-built'; readonly block: number; readonly built: number; readonly failed: number; readonly seconds: number }
  /** Batched, so that thousands of failing envs are a few messages: the first of a batch in full, the rest by id. */
  | { readonly type: 'env-failures'; readonly failures: readonly EnvFailure[]; readonly alsoFailed: readonly number[] }
  | { readonly type: 'fatal'; readonly code: string; readonly message: string }
  | { readonly type: 'stopped'; readonly frames: number };

export interface LearnerStart extends ChildStart {
  readonly role: 'learner';
  readonly mode: 'ppo' | 'random' | 'none';
  readonly backend: 'auto' | 'tfjs-node-gpu' | 'tfjs-node' | 'wasm';
  readonly segments: readonly { readonly spec: SegmentSpecMessage; readonly fd: number; readonly blockEntries: readonly number[] }[];
  readonly ppo: PpoConfig;
  /** Folder for checkpoints; null = none are written. */
  readonly checkpointDir: string | null;
  /** Checkpoint folder to resume from. */
  readonly resume: string | null;
}

export type ToLearner =
  | LearnerStart
  /** New blocks of a tier, as [worker, block] pairs. The latency histogram starts anew. */
  | { readonly type: 'grow'; readonly tier: number; readonly blocks: readonly (readonly [number, number])[] }
  /** The tier's measured time begins: the latency histogram starts anew. */
  | { readonly type: 'measure'; readonly tier: number }
  /** Blocks whose worker will not come back. */
  | { readonly type: 'drop'; readonly blocks: readonly (readonly [number, number])[] }
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
  | { readonly type: 'stats'; readonly snapshot: LearnerSnapshot }
  | { readonly type: 'checkpoint'; readonly path: string; readonly bytes: number; readonly seconds: number; readonly reason: string }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'fatal'; readonly code: string; readonly message: string }
  | { readonly type: 'stopped'; readonly snapshot: LearnerSnapshot };
