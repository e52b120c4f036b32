// Where every frame that the learner took has ended: trained, evaluated, superseded, dropped with a reason, or still pending in a rollout.
// Written by the agents, one call per fate; read by snapshots. `taken` is not kept here on purpose: it is read from the reader's cursors
// in shared memory, so a frame lost or counted twice shows as an imbalance.
import type { DropReason } from '../contract/snapshot.js';

export interface Balance {
  trained: number;
  evaluated: number;
  superseded: number;
  pending: number;
  readonly dropped: Record<DropReason, number>;
}

export function createBalance(): Balance {
  return {
    trained: 0,
    evaluated: 0,
    superseded: 0,
    pending: 0,
    dropped: { reset: 0, abandoned: 0, quarantined: 0, unfinished: 0 },
  };
}

/** Moves `count` pending frames out of the rollout for `reason`. */
export function dropPending(balance: Balance, count: number, reason: DropReason): void {
  balance.pending -= count;
  balance.dropped[reason] += count;
}

/** All frames with a fate, pending ones included: must equal the frames taken. */
export function accountedFrames(balance: Balance): number {
  const { dropped } = balance;
  return (
    balance.trained +
    balance.evaluated +
    balance.superseded +
    balance.pending +
    dropped.reset +
    dropped.abandoned +
    dropped.quarantined +
    dropped.unfinished
  );
}
