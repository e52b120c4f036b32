// What one worker keeps about one range of environments: slots, seed streams, episode and step counters, the time limit. Created per
// range, changed only by step-claimed.ts and construct-slots.ts, bounded by the range's capacity. About 300 B per env, obs views apart.
import type { Dtype, TypedArray } from '../contract/dtype.js';
import type { Env, Slot } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import { type ActionSpace, elementCount } from '../contract/spaces.js';
import { askKind } from './kind-config.js';
import { PROGRESS_ENV, PROGRESS_OP, PROGRESS_OP_WORD, PROGRESS_WORDS, type RangePort, STAMP_OP, STAMPS } from './range-port.js';
import type { ResolvedKind } from './registry.js';
import { PhiloxStream } from './seed-stream.js';

/**
 * Episode numbers of a worker's later lives start at epoch * this: readable in messages, and the `fault` kind's rules and draws, which
 * go by number, are not repeated at once after a restart. Nothing depends on a life staying below it: that no two lives share a seed
 * stream is the work of the life in the stream's counter (seed-stream.ts).
 */
export const EPISODES_PER_EPOCH = 2 ** 20;

/** A declared observation key as the checks need it. */
export interface KeyRule {
  readonly key: string;
  readonly dtype: Dtype;
  readonly elements: number;
  readonly low: number | readonly number[];
  readonly high: number | readonly number[];
}

/** A slot as the harness sees it: it moves the views and the episode, the env owns `state`. */
export interface TableSlot extends Slot {
  episode: number;
}

/** Views are fetched when an env asks for them: a kind that writes through `range` never touches (or makes) the views of a cell. */
class LazySlot implements TableSlot {
  state: unknown = undefined;
  constructor(
    readonly index: number,
    readonly envId: number,
    public episode: number,
    private readonly port: RangePort,
  ) {}

  get obs(): Readonly<Record<string, TypedArray>> {
    const { port, index } = this;
    return port.views(index, (port.range.cell[index] as number) % port.spec.cells);
  }
}

export interface SlotTable {
  readonly port: RangePort;
  readonly env: Env;
  readonly kindName: string;
  readonly keys: readonly KeyRule[];
  readonly action: ActionSpace;
  /** Array actions are copied here before each step: one scratch for all slots. */
  readonly actionScratch: Int32Array | Float32Array;
  readonly slots: readonly TableSlot[];
  readonly streams: readonly PhiloxStream[];
  /** Steps of the current episode. */
  readonly steps: Uint32Array;
  /** 1 once the slot was constructed and not closed since. */
  readonly constructed: Uint8Array;
  /** 1 once the slot had its first reset of this life. */
  readonly started: Uint8Array;
  /** 1 until the next reset of a slot that was built just now: its frame may follow a lost trajectory. */
  readonly fresh: Uint8Array;
  readonly firstEpisode: number;
  /** The worker's life, from 0; part of every seed stream's counter. */
  readonly epoch: number;
  /** Steps after which TRUNCATED is set; larger than any counter when the kind is endless. */
  readonly stepLimit: number;
  /** Words of the worker's progress line (range-port.ts). */
  readonly progress: Int32Array;
  /** The line's stamps (range-port.ts), and what `performance.now()` lacks to CLOCK_MONOTONIC in this thread. */
  readonly stamps: Float64Array;
  readonly clockOffsetMs: number;
  /** How long what a constructor or `close` returns may stay open; synchronous calls are watched from outside, by their stamp. */
  readonly limits: SlotLimits;
  /** One env failed and was quarantined, or its `close` failed; the others go on. Called outside the step loop's fast path. */
  readonly onFailure: (error: EnvladderError, envId: number) => void;
  /**
   * Takes a failed env over: its slot is parked (or was never active), and what becomes of it is the worker's to decide. Without it a
   * failed env is closed and quarantined.
   */
  readonly recover: ((error: EnvladderError, index: number) => void) | undefined;
  /** A `stepMany` threw: no env is to blame by name. */
  readonly onRangeThrow: (cause: unknown, firstEnvId: number) => void;
  /** True: stepMany is not used. Set when a stepMany threw, so that the next throw names its env. */
  slotBySlot: boolean;
  readonly deferSlow: boolean;
  /** Running mean of one step's time; 0 before the first, and without `deferSlow`. */
  stepMs: number;
  /** Running mean of one reset's time, and how many there were. */
  resetMs: number;
  resets: number;
}

export interface SlotLimits {
  readonly constructMs: number;
  readonly closeMs: number;
}

export interface SlotTableOptions {
  readonly baseSeed: number;
  /** The worker's life, from 0. */
  readonly epoch?: number;
  readonly progress?: Int32Array;
  readonly stamps?: Float64Array;
  readonly clockOffsetMs?: number;
  /** Default: without a limit. */
  readonly limits?: SlotLimits;
  readonly recover?: (error: EnvladderError, index: number) => void;
  readonly onRangeThrow?: (cause: unknown, firstEnvId: number) => void;
  readonly onFailure?: (error: EnvladderError, envId: number) => void;
  /** Steps slot by slot even where the kind has `stepMany`. */
  readonly slotBySlot?: boolean;
  /** Slots of slow steps take fewer turns (`RangePort.defer`). Off, every claim is a function of the answers alone. */
  readonly deferSlow?: boolean;
}

const NO_LIMITS: SlotLimits = { constructMs: Number.POSITIVE_INFINITY, closeMs: Number.POSITIVE_INFINITY };

const throwFailure = (error: EnvladderError): void => {
  throw error;
};

function isEnv(value: unknown): value is Env {
  const env = value as Partial<Env> | null | undefined;
  return typeof env?.reset === 'function' && typeof env.step === 'function';
}

/** Calls the kind's `create` for the port's range (`bad-kind` when it throws) and builds the table. Without `onFailure` a failing env throws. */
export function createSlotTable(kind: ResolvedKind, port: RangePort, options: SlotTableOptions): SlotTable {
  const { slots: capacity, firstEnvId } = port.spec;
  const epoch = options.epoch ?? 0;
  const { config } = kind;
  const env: unknown = askKind(kind.kind, 'create', () => kind.kind.create({ config, capacity, firstEnvId, range: port.range, epoch }));
  if (!isEnv(env)) {
    throw new EnvladderError(
      'bad-kind',
      `env kind '${kind.kind.name}': create must return an Env with reset and step, found ${env instanceof Promise ? 'a promise; do what takes time in construct, which may be async' : typeof env}`,
      { detail: { kind: kind.kind.name, member: 'create' } },
    );
  }
  const firstEpisode = epoch * EPISODES_PER_EPOCH;
  const action = kind.spaces.action;
  return {
    port,
    env,
    kindName: kind.kind.name,
    keys: Object.entries(kind.spaces.observation).map(([key, box]) => ({
      key,
      dtype: box.dtype,
      elements: elementCount(box.shape),
      low: box.low,
      high: box.high,
    })),
    action,
    actionScratch:
      action.type === 'box'
        ? new Float32Array(elementCount(action.shape))
        : new Int32Array(action.type === 'multi-discrete' ? action.nvec.length : 1),
    slots: Array.from({ length: capacity }, (_, index) => new LazySlot(index, firstEnvId + index, firstEpisode, port)),
    streams: Array.from({ length: capacity }, () => new PhiloxStream(options.baseSeed)),
    steps: new Uint32Array(capacity),
    constructed: new Uint8Array(capacity),
    started: new Uint8Array(capacity),
    fresh: new Uint8Array(capacity).fill(1),
    firstEpisode,
    epoch,
    stepLimit: kind.timeLimit ?? Number.MAX_SAFE_INTEGER,
    progress: options.progress ?? new Int32Array(PROGRESS_WORDS),
    stamps: options.stamps ?? new Float64Array(STAMPS),
    clockOffsetMs: options.clockOffsetMs ?? 0,
    limits: options.limits ?? NO_LIMITS,
    onFailure: options.onFailure ?? throwFailure,
    recover: options.recover,
    onRangeThrow: options.onRangeThrow ?? (() => undefined),
    slotBySlot: options.slotBySlot ?? env.stepMany === undefined,
    deferSlow: options.deferSlow ?? false,
    stepMs: 0,
    resetMs: 0,
    resets: 0,
  };
}

/**
 * Stores which env and op are in work and since when, for whoever finds the worker dead or stuck. The stamp goes first: a reader that
 * sees the new op must not judge it by the age of the one before. Returns the time, as `performance.now()`.
 */
export function beginOp(table: SlotTable, envId: number, op: Exclude<keyof typeof PROGRESS_OP, 'idle'>): number {
  const nowMs = performance.now();
  stampOp(table, nowMs);
  table.progress[PROGRESS_ENV] = envId;
  table.progress[PROGRESS_OP_WORD] = PROGRESS_OP[op];
  return nowMs;
}

/** The operation in work began at `nowMs` of this thread's `performance.now()`. */
export function stampOp(table: SlotTable, nowMs: number): void {
  table.stamps[STAMP_OP] = nowMs + table.clockOffsetMs;
}

/** No env is in work. */
export function endOp(table: SlotTable): void {
  table.progress[PROGRESS_OP_WORD] = PROGRESS_OP.idle;
  table.progress[PROGRESS_ENV] = -1;
}
