// What the learner counted, as it travels from learner to supervisor and into the record. Every published frame ends in exactly one
// of: trained, evaluated, superseded, dropped{reason}, or is still in flight (pending in a rollout, or not yet taken).

export const DROP_REASONS = [
  /** Reset frames carry no transition. */
  'reset',
  /** The trajectory was lost with its worker or env. */
  'abandoned',
  /** Last frames of quarantined slots and what hung on them. */
  'quarantined',
  /** Left in unfinished rollouts at stop. */
  'unfinished',
  /** Taken by a learner that died before it told what became of them. */
  'learner-died',
  /** Rolled back with an update that made no sense (a loss that is no number). */
  'bad-update',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export interface KindTotals {
  readonly episodes: number;
  readonly returnSum: number;
  readonly lengthSum: number;
  /** Means over the last up to 100 episodes; null before the first. */
  readonly recentReturn: number | null;
  readonly recentLength: number | null;
}

export interface LearnerSnapshot {
  /** CLOCK_MONOTONIC in milliseconds at which it was taken. */
  readonly monotonicMs: number;
  readonly taken: number;
  readonly trained: number;
  readonly evaluated: number;
  readonly superseded: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Frames taken and waiting in rollouts. */
  readonly pending: number;
  /** Sum of seq over all slots, read from the control words at the same moment. */
  readonly published: number;
  readonly torn: number;
  readonly outOfOrder: number;
  readonly bytesCopied: number;
  readonly batches: number;
  /** Frames per batch over its limit, mean since the start: 1 = always full. */
  readonly batchFill: number;
  readonly updates: number;
  readonly policyVersion: number;
  /** Seconds spent since the start, by phase: where the learner's time goes. */
  readonly phaseSeconds: Readonly<Record<'wait' | 'collect' | 'infer' | 'act' | 'store' | 'train', number>>;
  readonly kinds: Readonly<Record<string, KindTotals>>;
  /** Of the newest update, by policy signature: loss terms, KL, clip share, explained variance, entropy, learning rate. */
  readonly losses: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Latency from action stored to frame published since the tier began. */
  readonly latency: Pairs;
  /** At a set rate: from the time at which the action was meant to be let go to frame published; empty without. */
  readonly response: Pairs;
  /** At a set rate: how late actions that were there in time were let go. */
  readonly lag: Pairs;
}

/** A histogram: bucket mid-points in microseconds, counts, and the exact maximum. */
export interface Pairs {
  readonly valueUs: readonly number[];
  readonly count: readonly number[];
  readonly maxUs: number;
}
