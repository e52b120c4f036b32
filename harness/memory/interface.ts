// The seam between worker, learner, supervisor and shared memory. Two implementations stand behind it: `native` (memfd, futex,
// C++ addon) and `twin` (one process, ArrayBuffers, plain JS). One conformance suite runs against both.
//
// Words: a *segment* is one memfd, owned by one worker. It is cut into *blocks*: a block is a contiguous range of env ids of one
// kind that goes live at one tier. Blocks are planned before the worker starts and allocated when their tier starts, so a running
// worker grows without a new fd. A *slot* is one env's place in a block. A *frame* is one env call's outcome (a step or a reset).
import type { CheckLevel } from '../contract/check-level.js';
import type { Dtype, TypedArray } from '../contract/dtype.js';
import type { RangeArrays } from '../contract/env.js';
import type { AutoresetMode } from '../contract/frame-flags.js';
import type { Control, ErrorTables } from './control.js';
import type { ReaderOptions, ReaderStats } from './reader-options.js';

export interface KeySpec {
  readonly key: string;
  readonly dtype: Dtype;
  readonly elements: number;
  /** Shape as declared; image transforms need it. */
  readonly shape: readonly number[];
  /** Inclusive bounds, one number per key when uniform, else per element. Used by the native check. */
  readonly low: number | readonly number[];
  readonly high: number | readonly number[];
}

export interface BlockSpec {
  /** Unique in the run. */
  readonly id: number;
  readonly kind: string;
  readonly firstEnvId: number;
  readonly slots: number;
  /** Ring depth D: cells per slot, 2..256. */
  readonly cells: number;
  readonly keys: readonly KeySpec[];
  readonly action: { readonly dtype: 'i32' | 'f32'; readonly length: number };
  readonly autoreset: AutoresetMode;
}

export interface SegmentSpec {
  readonly runId: string;
  readonly worker: number;
  readonly blocks: readonly BlockSpec[];
}

/** Counts read from the control words alone; safe from any process at any time. */
export interface BlockScan {
  /** Frames published since the run began: sum of seq over the slots. */
  readonly published: number;
  /** Frames the reader has taken: sum of its cursors. */
  readonly taken: number;
  /** Slots with at least one published frame and not quarantined. */
  readonly live: number;
  readonly quarantined: number;
}

/** Control words slot by slot; one array per word, indexed by env. */
export interface SlotWords {
  /** Frames published since the run began. */
  readonly seq: Float64Array;
  readonly epoch: Uint32Array;
  /** 1: the newest frame has been answered (or there is none yet): the next frame is up to the env. */
  readonly owed: Uint8Array;
  /** 1: quarantined. */
  readonly retired: Uint8Array;
}

/** A frame that `publish` refused: not published, its slot is marked quarantined by the caller's next `quarantine`. */
export interface FrameBreach {
  readonly slot: number;
  /** Key of the observation, or 'reward'. */
  readonly key: string;
  readonly element: number;
  readonly value: number;
  readonly rule: 'finite' | 'bounds';
}

/** Worker side of one block. Not reentrant: claim -> step/reset -> publish. */
export interface BlockWriter {
  readonly spec: BlockSpec;
  readonly range: RangeArrays;
  /** Views of cell `cell` of `slot` (cell 0..cells-1), created on first use and cached. */
  views(slot: number, cell: number): Record<string, TypedArray>;
  /** Lets `claim` hand the slot out: call when its constructor is done. Until then it is invisible. */
  activate(slot: number): void;
  /**
   * Leases up to `limit` slots whose last frame has been answered (or that have no frame yet) and sets `range.cell` for them.
   * Slots to step land in `runs` as [first, count] pairs, slots to reset in `resets`. Returns steps + resets.
   * A slot is reset when: it has no frame in this epoch; the reader commanded it; its last frame is DONE and autoreset is next-step.
   * `range.flags` and `range.reward` are zeroed for claimed slots.
   */
  claim(limit: number): number;
  /**
   * Passes the slot over in its next `rounds` (0..255) sweeps of `claim`, unless nothing else is due; then it comes alone. For slots whose
   * step is many times slower than their neighbours': they take their share of the worker's time, not of its turns.
   */
  defer(slot: number, rounds: number): void;
  readonly runs: Int32Array;
  readonly runCount: number;
  readonly resets: Int32Array;
  readonly resetCount: number;
  /** Whether a claimed-for-reset slot is reset because its trajectory was lost (first frame of an epoch > the first). */
  wasAbandoned(slot: number): boolean;
  /** same-step: copies the current cell of `slot` to its `final` cell. Call before resetting in place. */
  keepFinal(slot: number): void;
  /**
   * Publishes every claimed slot: writes reward and flags (the worker adds FIRST to resets itself through `range.flags`), stamps
   * the time, CASes P from (epoch|seq) to (epoch|seq+1) with release order and rings the reader's bell once. With check `full` every
   * frame is checked (finite, bounds), with `sampled` 1 in 64 per slot in turn; rewards are always checked for finiteness.
   * Returns the number published. Refused frames are listed in `breaches`; their slots stay leased until `quarantine`.
   * Throws `worker-died` with detail {fenced: true} if any CAS fails: another epoch owns the slot and this process must exit.
   */
  publish(check: CheckLevel): number;
  readonly breaches: readonly FrameBreach[];
  /**
   * Takes a slot out of the round: nothing is published for it and `claim` passes it over until `unpark`. For an env that failed and may
   * be built again, whether it is leased (claimed, refused) or not. Its last published frame stays the newest. Quarantined ones stay so.
   */
  park(slot: number): void;
  /** The env of a parked slot is built again: the next claim hands it out for a reset; `wasAbandoned` says true if it ever published. */
  unpark(slot: number): void;
  /** Ends a quarantine (this life's or an earlier one's): once the reader has released the row, claim hands the slot out for a reset. */
  release(slot: number): void;
  /** Publishes a last frame with ABANDONED | QUARANTINED for a slot that is leased (claimed or never started) and retires it. */
  quarantine(slot: number): void;
}

export interface Segment {
  readonly spec: SegmentSpec;
  /** To be inherited by children; -1 in the twin. */
  readonly fd: number;
  /** Size of the object in bytes when all blocks are allocated. */
  readonly bytes: number;
  blockBytes(block: number): number;
  /** Whether the block has pages: somebody allocated it. */
  isAllocated(block: number): boolean;
  /** Supervisor: posix_fallocate (throws `out-of-memory` with numbers on ENOSPC) and pre-fault with `threads` threads. */
  allocate(block: number, threads: number): void;
  /** Supervisor, after the kernel confirmed the old owner's death: P := (epoch | seq) for every slot, so that nothing older can publish. */
  fence(block: number, epoch: number): void;
  writer(block: number, epoch: number): BlockWriter;
  /**
   * Supervisor, when the death of `old`'s owner cannot be confirmed: takes over the control words of every allocated block (P fenced to
   * `epoch`, A, cursors, the newest complete frame) from `old`, a segment of the same spec, and fences `old` to `epoch` too. Allocate its
   * blocks first. Nobody may be writing to this one yet; the reader goes on with `old` until its `replace`.
   */
  takeOver(old: Segment, epoch: number): void;
  /**
   * Any process, cheap: what is wrong with the header now ("the magic number is 7, expected ..."), or null. It was right at attach; who finds
   * damage fences the range. The twin has no header.
   */
  damaged(): string | null;
  scan(block: number): BlockScan;
  /** Copies the words of every slot to `into`, the block's first slot at index `from`. Leaves `into` alone while the block has no pages. */
  slotWords(block: number, into: SlotWords, from: number): void;
  /** Lease-less reader (dashboard, recorder): copies the newest frame of `key` and re-validates; undefined after 8 torn tries. */
  peek(block: number, slot: number, key: string): { seq: number; data: TypedArray } | undefined;
  /** Worker: sleeps until the reader stored actions (or `timeoutMs`). Spins briefly first. Returns false on time-out. */
  waitWork(timeoutMs: number): boolean;
  /** Wakes a sleeping worker (new blocks, stop). */
  ringWork(): void;
  close(): void;
}

/** Histogram in pairs, ready to be merged by adding: values are bucket mid-points in microseconds. */
export interface LatencyPairs {
  readonly valueUs: readonly number[];
  readonly count: readonly number[];
  readonly maxUs: number;
}

/** Learner side: takes ready frames of many blocks with one space signature, in batches. A *row* is a slot's index over all added blocks. */
export interface BatchReader {
  readonly rows: number;
  /** Adds a block; its slots get the rows from the returned number on. */
  add(segment: Segment, block: number): number;
  /** Stops reading a block whose worker is gone for good; returns how many published frames were never taken (they are taken now). */
  drop(segment: Segment, block: number): number;
  /** Reads `to` in place of `from` from here on (same spec, control words taken over): rows, cursors, due answers and open episodes stay. */
  replace(from: Segment, to: Segment): void;
  /** Ends the quarantine of a row: its last frame is answered with a reset, and frames of it are collected again. */
  release(row: number): void;
  /**
   * Takes up to `limit` ready frames, round-robin over rows, copying and validating in native code. Returns their number n.
   * Entry i of rowOf/reward/flags and row i of each output belong together.
   */
  collect(limit: number): number;
  readonly rowOf: Int32Array;
  readonly reward: Float64Array;
  readonly flags: Uint8Array;
  /** By output name. */
  readonly outputs: Readonly<Record<string, TypedArray>>;
  /** Same shape; row i is valid only where flags[i] has FINAL. */
  readonly finals: Readonly<Record<string, TypedArray>>;
  /** Episodes that ended in the last `collect`: row, undiscounted return, steps. Only non-FIRST frames count; abandoned ones never report. */
  readonly episodeCount: number;
  readonly episodeRow: Int32Array;
  readonly episodeReturn: Float64Array;
  readonly episodeLength: Int32Array;
  /**
   * Stores actions for frames taken earlier (rows[i] <- actions[i * length ...]), releases the leases, rings each touched worker once.
   * Throws `contract` with {row, element, value} for an f32 action that is not finite; then none of the call's actions is stored.
   */
  act(count: number, rows: Int32Array, actions: Int32Array | Float32Array): void;
  /** Answers frames with the command `reset` instead of an action (autoreset disabled, manual reset). */
  commandReset(count: number, rows: Int32Array): void;
  readonly stats: ReaderStats;
  /** Latency from action stored to frame published, since the last `resetLatency`. */
  latency(): LatencyPairs;
  /**
   * With `stepPeriodMs`: latency from the time at which the action was meant to be let go to frame published. Every row's clock ticks once a
   * period whatever became of the step before, so a stall counts for every step that it delayed. Empty without.
   */
  response(): LatencyPairs;
  /** With `stepPeriodMs`: how late actions that were there in time were let go: what the reader itself adds to `response`. */
  lag(): LatencyPairs;
  /** When the next held action is to be let go (`collect` does it), CLOCK_MONOTONIC in milliseconds; 0: none is held. */
  nextDueMs(): number;
  /** Clears all three histograms. */
  resetLatency(): void;
}

export interface Memory {
  readonly name: 'native' | 'twin';
  createSegment(spec: SegmentSpec): Segment;
  /** Child: maps an inherited fd; throws if magic, version, layout hash or run id differ. */
  attachSegment(spec: SegmentSpec, fd: number): Segment;
  /** `lines`: worker seats + 1. */
  createControl(lines: number): Control;
  attachControl(lines: number, fd: number): Control;
  /** Error tables, one per line of the control page; supervisor-owned, so that they outlive who writes them. */
  createErrors(lines: number): ErrorTables;
  attachErrors(lines: number, fd: number): ErrorTables;
  /** `control` carries the bell that writers of these segments ring. Segments must be created or attached by this Memory. */
  reader(options: ReaderOptions, control: Control): BatchReader;
  /** Writers ring this control's bell on publish. Call once per process after attach. */
  bindControl(control: Control): void;
}
