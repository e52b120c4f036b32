// The face of shared memory that the in-process driver needs: structurally what a block writer of harness/memory is, restated here
// because envs may not import memory. LocalRange (tests, env check, benches) is the other implementation.
import type { CheckLevel } from '../contract/check-level.js';
import type { TypedArray } from '../contract/dtype.js';
import type { RangeArrays } from '../contract/env.js';
import type { AutoresetMode } from '../contract/frame-flags.js';

/** Words of a worker's progress line: what op is in work on which env. Same codes as OP of harness/memory/interface.ts. */
export const PROGRESS_OP = { idle: 0, construct: 1, reset: 2, step: 3, close: 4 } as const;
/** Index of the env id (-1: none) and of the op in a progress line. */
export const PROGRESS_ENV = 0;
export const PROGRESS_OP_WORD = 1;
/** Index of how many envs are in work together, from that env id on: a run of `stepMany`; 0 and 1 are one env. */
export const PROGRESS_SPAN = 7;
/** Words of a line. */
export const PROGRESS_WORDS = 8;
/** Index of the start of the operation in work among a line's stamps (CLOCK_MONOTONIC in milliseconds): [native, loop, op]. */
export const STAMP_OP = 2;
export const STAMPS = 3;

export interface RangeSpec {
  readonly kind: string;
  readonly firstEnvId: number;
  readonly slots: number;
  readonly cells: number;
  readonly autoreset: AutoresetMode;
}

/** A frame that `publish` refused. */
export interface RefusedFrame {
  readonly slot: number;
  readonly key: string;
  readonly element: number;
  readonly value: number;
  readonly rule: 'finite' | 'bounds';
}

/** One contiguous range of slots, used as claim -> stepClaimed -> publish; see BlockWriter for the meaning of every member. */
export interface RangePort {
  readonly spec: RangeSpec;
  readonly range: RangeArrays;
  views(slot: number, cell: number): Record<string, TypedArray>;
  activate(slot: number): void;
  claim(limit: number): number;
  /** Passes a slow slot over in its next claims while others are due; a port without it treats all alike. */
  defer?(slot: number, rounds: number): void;
  readonly runs: Int32Array;
  readonly runCount: number;
  readonly resets: Int32Array;
  readonly resetCount: number;
  wasAbandoned(slot: number): boolean;
  keepFinal(slot: number): void;
  publish(check: CheckLevel): number;
  readonly breaches: readonly RefusedFrame[];
  /** May be called between claim and publish: publish then leaves the slot out. */
  quarantine(slot: number): void;
  /** Takes a leased slot out of the round until `unpark`: for an env that failed and will be built again. */
  park(slot: number): void;
  unpark(slot: number): void;
  /** Ends a quarantine. */
  release(slot: number): void;
}
