// A worker's seat as the rest of the supervisor sees it. Made by worker-post.ts.
import type { ChildReport, OperationDeadlines, ToWorker } from '../contract/messages.js';
import type { Progress } from '../memory/control.js';
import type { Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import type { CrewPorts } from './crew-ports.js';
import type { EnvLedger } from './env-ledger.js';
import type { KillCause } from './liveness-judge.js';
import type { EnvChanged } from './worker-news.js';

export type PostState = 'starting' | 'up' | 'ending' | 'waiting' | 'lost' | 'stopped';

export interface Replacement {
  readonly ok: boolean;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface WorkerPost {
  readonly worker: number;
  readonly planned: PlannedSegment;
  /** The one in use now: it is replaced when a death cannot be confirmed. */
  readonly segment: Segment;
  readonly state: PostState;
  readonly pid: number | null;
  readonly restarts: number;
  readonly epoch: number;
  /** Newest word of the process about itself. */
  readonly report: ChildReport | null;
  /** Ids of the blocks it was given so far. */
  readonly blocks: readonly number[];
  readonly ledger: EnvLedger;
  /** First life ready; rejects when that life dies first. */
  readonly ready: Promise<void>;
  /** No process holds the seat any more and none will. */
  readonly over: Promise<void>;
  budgetLeft(nowMs: number): number;
  /** Deadlines of the env's mix entry; null for an env that is not of this seat. */
  deadlinesOf(envId: number): OperationDeadlines | null;
  /** The watch's look at a worker that is up: the first frame of a life ends its recovery. */
  observe(nowMs: number, progress: Progress): void;
  /** False when no process is up to hear it. */
  tell(message: ToWorker): boolean;
  onReply(listener: (message: EnvChanged) => void): void;
  grow(blocks: readonly number[]): void;
  /** Polite end; from here on nothing is restarted. */
  stop(): void;
  /** Ends this life for `cause` and starts the next: fence, SIGTERM, grace, SIGKILL. Once per life. */
  kill(cause: string, judged?: KillCause): void;
  /** The header of its segment is damaged: as `kill`, and the next life gets fresh memory. */
  condemn(reason: string): void;
  /** SIGKILL at once: the end of a stop that took too long. */
  destroy(): void;
  /** A new process takes the range over, nothing is lost but open trajectories. Never rejects: `ok` false says why not. */
  replace(): Promise<Replacement>;
}

export interface WorkerPostOptions {
  readonly ports: CrewPorts;
  readonly planned: PlannedSegment;
  readonly segment: Segment;
  /** The range is given up: its blocks will not be written any more. */
  readonly onLost: (post: WorkerPost) => void;
  /** The seat's memory is another one now: resolves when nobody reads the old one any more. */
  readonly onFresh: (post: WorkerPost, old: Segment) => Promise<void>;
  /** Memory like `old`, with its control words under `epoch`. */
  readonly makeFresh: (post: WorkerPost, epoch: number) => Segment;
}

/** Decides deaths in place of the progress judge: `health.mode: account`. */
export interface CrewDetector {
  start(posts: readonly Pick<WorkerPost, 'worker' | 'pid' | 'state' | 'kill'>[]): void;
  stop(): void;
}
