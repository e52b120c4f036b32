// A fault that was injected into a rig, as its row describes it: when it began, whom it may touch, how to tell that it was noticed and that
// it is over, and what it must leave in the events.
import type { RunEventType } from '../contract/run-events.js';

/** A typed event that the fault must leave: exactly `count` (default 1), the cause in its detail or message. */
export interface ExpectedEvent {
  readonly type: RunEventType;
  readonly count?: number;
  readonly cause?: RegExp;
  readonly worker?: number;
  readonly envId?: number;
}

export interface Fault {
  /** CLOCK_MONOTONIC ms at which it began. */
  readonly atMs: number;
  /** Env ids whose rate it may touch. */
  readonly touched: readonly number[];
  /** Time of the first sign in the harness's own words; null: not yet. Left out: nothing to detect. */
  readonly detected?: () => number | null;
  /** Time at which the steady state was back; null: not yet. Left out: nothing has to recover. */
  readonly recovered?: () => number | null;
  /** Longest wait for both, before patience. Default: ten times the row's limit, at least 30 s. */
  readonly waitMs?: number;
  readonly expect?: readonly ExpectedEvent[];
  /** Undoes it and looks what that does, before the rig is stopped; returns problems. */
  readonly undo?: () => Promise<readonly string[]> | readonly string[];
  /** The learner may not be asked about the counts of frames in this row: why. */
  readonly noRates?: string;
}
