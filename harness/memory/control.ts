// What processes say about themselves in shared memory: the control page with a progress line per worker seat and one for the learner, and
// the error tables beside it. Made by the supervisor, inherited by every child.
import type { ErrorRecord } from '../contract/error-record.js';

export const OP = { idle: 0, construct: 1, reset: 2, step: 3, close: 4 } as const;
export type OpName = keyof typeof OP;

/** What a worker says about itself in shared memory, and what everyone else reads. */
export interface Progress {
  readonly worker: number;
  /** Env id in work, -1 if none. */
  readonly envId: number;
  /** Envs in work together, from `envId` on: a run that one `stepMany` steps, else 1. */
  readonly span: number;
  readonly op: OpName;
  /** Rises with every claim/publish round, also idle ones: flat = blocked. */
  readonly loops: number;
  /** Frames published by this worker in this life. */
  readonly frames: number;
  readonly epoch: number;
  /** CLOCK_MONOTONIC in milliseconds, 0 = never: last beat of the process's native thread (it beats whatever JavaScript does). */
  readonly nativeMs: number;
  /** Last turn of the process's event loop. */
  readonly loopMs: number;
  /** When the operation in work began; meaningless while `op` is idle. For runs of cheap steps: when the run began. */
  readonly opMs: number;
}

/** One small shared page for the whole run: the reader's bell and progress lines: one per worker seat, then the learner's (index = seats). */
export interface Control {
  readonly fd: number;
  /** Worker: raw words of its progress line for cheap stores: [envId, op, loops, framesLow, epoch, pid, framesHigh, span]. */
  progressWords(worker: number): Int32Array;
  progress(worker: number): Progress;
  /** Raw stamps of a line for cheap stores, CLOCK_MONOTONIC in milliseconds: [native, loop, op]. */
  stampWords(worker: number): Float64Array;
  /** Starts a native thread that stamps `native` of the line every `intervalMs`; the returned function ends it. Once per line and process. */
  beat(worker: number, intervalMs: number): () => void;
  /** Learner: sleeps until any worker published (or `timeoutMs`). Spins briefly first. Returns false on time-out. */
  waitFrames(timeoutMs: number): boolean;
  ringFrames(): void;
  close(): void;
}

/** An error with how often it was seen since its cell was taken; equal fingerprints of one mix entry share a cell. */
export interface ErrorCell {
  readonly fingerprint: string;
  readonly count: number;
  /** CLOCK_MONOTONIC in milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly exemplar: ErrorRecord;
  /** Env ids it hit, the first few. */
  readonly envIds: readonly number[];
  /** How many envs it hit; exact while env ids are below 8,192, else at least so many. */
  readonly envs: number;
}

/** Shared-memory tables of errors by fingerprint: one writer per line, counts exact, the oldest cell is overwritten when a table is full. */
export interface ErrorTables {
  readonly fd: number;
  /** Writer: adds one error to its line's table. Never throws, never waits. */
  add(line: number, error: ErrorRecord): void;
  /** Any process: cells of a line that are whole now, how many errors are in none of them (their cell went to newer ones), and how many cells are cut. */
  read(line: number): { readonly cells: readonly ErrorCell[]; readonly lost: number; readonly torn: number };
  close(): void;
}
