// The environment contract: what a kind declares and what the harness hands it. One `Env` object serves a contiguous range of
// slots inside one worker, so that thousands of environments cost no thousand objects unless the kind wants them.
import type { Dtype, TypedArray } from './dtype.js';
import type { Isolation } from './plan-health.js';
import type { ActionSpace, Spaces } from './spaces.js';

/**
 * The random stream of one (base seed, env id, episode, life of its worker). Counter-based, so equal for any worker count and arrival order.
 * The object handed to `reset` stays valid until the next reset of the same slot: keep it to draw during the episode.
 */
export interface SeedStream {
  /** Uniform in [0, 1), 53 bits. */
  uniform(): number;
  /** Uniform unsigned 32-bit integer. */
  u32(): number;
  /** Standard normal. */
  normal(): number;
}

/** One environment's place in its range. `state` belongs to the env; everything else to the harness. */
export interface Slot<State = unknown> {
  /** 0..capacity-1 inside the range. */
  readonly index: number;
  /** Global and stable; the same environment keeps it whatever worker it runs in. */
  readonly envId: number;
  /** The views to write this frame's observation into, one per declared key. They change from frame to frame: never keep them. */
  readonly obs: Readonly<Record<string, TypedArray>>;
  /** Episode number of this env, from 0; after the n-th restart of its worker from n * 2^20. */
  readonly episode: number;
  state: State;
}

/** discrete: a number; multi-discrete: Int32Array [k]; box: Float32Array [n]. Array actions are views: copy what you keep. */
export type Action = number | Int32Array | Float32Array;

export interface StepResult {
  /** Finite scalar. */
  reward: number;
  terminated: boolean;
  truncated: boolean;
  /**
   * Optional: observations as values instead of writes into `slot.obs`. Every declared key must be there with the declared dtype and
   * length; the harness checks and copies them. Writing into `slot.obs` is faster (no allocation, no copy).
   */
  obs?: Record<string, TypedArray>;
  info?: Record<string, unknown>;
}

export interface ResetResult {
  obs?: Record<string, TypedArray>;
  info?: Record<string, unknown>;
}

/** Arrays over a whole range for `stepMany`: no object per env, no view per step. All are indexed by slot unless said otherwise. */
export interface RangeArrays {
  /** Per key: the plane of all cells. Slot i's current cell starts at element `cell[i] * elements[key]`. */
  readonly obs: Readonly<Record<string, TypedArray>>;
  readonly elements: Readonly<Record<string, number>>;
  /** Cell number to write for each slot, set by the harness before each call. */
  readonly cell: Uint32Array;
  /** Slot i's action starts at element `i * actionStride`. i32 for discrete kinds, f32 for box. */
  readonly action: Int32Array | Float32Array;
  readonly actionStride: number;
  /** To be written by stepMany. */
  readonly reward: Float64Array;
  /** To be written by stepMany: TERMINATED | TRUNCATED bits or 0 (frame-flags.ts). */
  readonly flags: Uint8Array;
}

export interface EnvContext<Config = unknown> {
  readonly config: Config;
  /** Slots in this range; the first has env id `firstEnvId`, the rest follow without a gap. */
  readonly capacity: number;
  readonly firstEnvId: number;
  readonly range: RangeArrays;
  /** How often the worker that owns this range has been restarted (0 = first life). Fault schedules use it. */
  readonly epoch: number;
}

/** What a kind's `create` returns. All calls for one range come from one thread, one at a time. */
export interface Env<State = unknown> {
  /** Builds one slot's own resources. Called once per slot before its first reset; may be async, bounded-parallel. */
  construct?(slot: Slot<State>): void | Promise<void>;
  /**
   * Starts an episode and writes its first observation. `options` is there for callers of your own, such as your tests: in this version
   * neither runs nor `env check` pass any. What an environment needs belongs into its kind's config.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: an env that writes into the views returns nothing
  reset(slot: Slot<State>, seed: SeedStream, options?: Record<string, unknown>): ResetResult | void;
  step(slot: Slot<State>, action: Action): StepResult;
  /** Optional fast path: steps slots first..first+count-1 at once through `RangeArrays`. Must equal `step` slot by slot. */
  stepMany?(first: number, count: number): void;
  close?(slot: Slot<State>): void | Promise<void>;
}

export interface EnvKind<Config = unknown> {
  readonly name: string;
  /** Semantic version of the kind's behaviour: a change of dynamics, rewards or spaces bumps it. */
  readonly version: string;
  readonly summary: string;
  /** Fills defaults and refuses unknown or bad keys. Throw EnvladderError('bad-kind', ...) with a clear message. Default: only {} is accepted. */
  parseConfig?(config: unknown): Config;
  spaces(config: Config): Spaces;
  /** Steps after which the harness sets `truncated`. Undefined: the kind never ends by time. */
  timeLimit?(config: Config): number | undefined;
  create(context: EnvContext<Config>): Env;
  /** What an env of this kind can take down; `inline` when left out. A plan's mix entry may say otherwise. */
  readonly isolation?: Isolation;
  /** False: an env that failed is not built anew in its worker (it leaves things behind); it is quarantined at once. */
  readonly rebuild?: boolean;
  /** Mean return that counts as solved, for `bench:learning` and reports. */
  readonly solvedReturn?: number;
  /** Files whose content makes up the provenance hash: usually [import.meta.url]. */
  readonly sources: readonly string[];
}

/** A breach of the contract, as it travels in events and errors. */
export interface Breach {
  readonly envId: number;
  readonly kind: string;
  readonly operation: 'construct' | 'reset' | 'step' | 'close';
  /** Observation key, or 'reward', 'terminated', 'truncated', 'result'. */
  readonly key: string;
  /** What was found, as text (NaN, bigint 3n, float64[4]...). */
  readonly value: string;
  /** The rule broken, as a sentence part: "must be a finite number". */
  readonly rule: string;
}

export type { ActionSpace, Dtype };
