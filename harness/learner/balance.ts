// Where every frame that the learner took has ended: trained, evaluated, superseded, dropped with a reason, or still pending in a rollout.
// Written by the agents, one call per fate; read by snapshots. `taken` is not kept here on purpose: it is read from the reader's cursors
// in shared memory, so a frame lost or counted twice shows as an imbalance.
import type { LearnerBase } from '../contract/messages.js';
import { DROP_REASONS, type DropReason } from '../contract/snapshot.js';

export interface Balance {
  trained: number;
  evaluated: number;
  superseded: number;
  pending: number;
  readonly dropped: Record<DropReason, number>;
}

/** Counts on from `base`, the fates that the learners before this one told; what they held when they died is in none of them. */
export function createBalance(base?: Pick<LearnerBase, 'trained' | 'evaluated' | 'superseded' | 'dropped'> | null): Balance {
  return {
    trained: base?.trained ?? 0,
    evaluated: base?.evaluated ?? 0,
    superseded: base?.superseded ?? 0,
    pending: 0,
    dropped: Object.fromEntries(DROP_REASONS.map((reason) => [reason, base?.dropped[reason] ?? 0])) as Record<DropReason, number>,
  };
}

/** Moves `count` pending frames out of the rollout for `reason`. */
export function dropPending(balance: Balance, count: number, reason: DropReason): void {
  balance.pending -= count;
  balance.dropped[reason] += count;
}

/** All frames with a fate, pending ones included: must equal the frames taken. */
export function accountedFrames(balance: Balance): number {
  const { trained, evaluated, superseded, pending, dropped } = balance;
  return trained + evaluated + superseded + pending + DROP_REASONS.reduce((sum, reason) => sum + dropped[reason], 0);
}
