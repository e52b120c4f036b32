// The rules that turn one frame into the end of one transition and, mostly, the start of the next. Pure bookkeeping over a rollout and a
// balance: it decides what happens to the frame, its caller infers, acts and copies observations. Every frame gets exactly one fate here:
// it becomes a pending transition, or is dropped for a reason.

import type { AutoresetMode } from '../contract/frame-flags.js';
import { ABANDONED, DONE, FINAL, FIRST, QUARANTINED, TERMINATED } from '../contract/frame-flags.js';
import { type Balance, dropPending } from './balance.js';
import { ROW, type Rollout } from './rollout.js';

/** What the caller owes the frame. Bits: one of the first four, plus at most one of the last two. */
export const FATE = {
  /** The slot is out: no answer. */
  none: 0,
  /** Store the observation at place `length`, infer, answer with an action. */
  act: 1,
  /** An episode ended: answer so that a reset follows; the observation starts nothing. */
  acknowledge: 2,
  /** The row is complete: store the observation at place `horizon`, answer after the update. */
  hold: 3,
  /** The newest transition of the row needs V of this frame's observation as its bootstrap. */
  bootstrapObservation: 4,
  /** Likewise, from the reader's `finals`. */
  bootstrapFinal: 8,
} as const;

/** Mask of the answer part of a fate. */
export const ANSWER = 3;

/** Drops the running episode's transitions of an incomplete row; what was complete keeps its bootstrap and will be trained. */
function dropOpen(rollout: Rollout, balance: Balance, row: number): void {
  const length = rollout.length[row] as number;
  if (length === rollout.horizon) return;
  const start = rollout.episodeStart[row] as number;
  dropPending(balance, length - start, 'abandoned');
  rollout.length[row] = start;
}

/** Retires a row. Its complete transitions stay for the next update, an incomplete row can never be completed and is dropped whole. */
export function retireRow(rollout: Rollout, balance: Balance, row: number, reason: 'quarantined' | 'abandoned'): void {
  rollout.state[row] = ROW.gone;
  rollout.held[row] = 0;
  const length = rollout.length[row] as number;
  if (length === rollout.horizon) return;
  dropPending(balance, length, reason);
  rollout.length[row] = 0;
  rollout.episodeStart[row] = 0;
}

/** The observation of this frame starts a transition, now or after the update. */
function begin(rollout: Rollout, row: number): number {
  rollout.state[row] = ROW.open;
  if (rollout.length[row] === rollout.horizon) {
    rollout.held[row] = 1;
    return FATE.hold;
  }
  return FATE.act;
}

/** The reader hands out nothing of a row that is out, so a reset there says that the row was released: it begins anew. */
function isOut(rollout: Rollout, row: number, flags: number): boolean {
  return rollout.state[row] === ROW.gone && (flags & FIRST) === 0;
}

/** Settles a frame whose observation is no number: nothing can start from it, and what it would have ended is dropped. */
export function settleUnusable(rollout: Rollout, balance: Balance, row: number, flags: number): number {
  if (isOut(rollout, row, flags)) {
    balance.dropped.quarantined++;
    return FATE.none;
  }
  balance.dropped.abandoned++;
  if (rollout.state[row] === ROW.open) dropOpen(rollout, balance, row);
  rollout.episodeStart[row] = rollout.length[row] as number;
  // Answered right away: a complete row has nothing left to hold. The next frame begins anew, whatever it is.
  rollout.held[row] = 0;
  rollout.state[row] = ROW.ended;
  return FATE.acknowledge;
}

/** Settles one frame of `row`; returns its FATE. `completed` rows are those whose length has just become the horizon. */
export function settleFrame(
  rollout: Rollout,
  balance: Balance,
  row: number,
  flags: number,
  reward: number,
  autoreset: AutoresetMode,
): number {
  const state = rollout.state[row];
  if (isOut(rollout, row, flags) || (flags & QUARANTINED) !== 0) {
    balance.dropped.quarantined++;
    if (state !== ROW.gone) retireRow(rollout, balance, row, 'quarantined');
    return FATE.none;
  }
  if ((flags & FIRST) !== 0) {
    balance.dropped.reset++;
    // A reset in the middle of an episode: its worker died, or somebody reset it by hand. Either way its outcome is unknown.
    if (state === ROW.open) dropOpen(rollout, balance, row);
    rollout.episodeStart[row] = rollout.length[row] as number;
    return begin(rollout, row);
  }
  const length = rollout.length[row] as number;
  const done = (flags & DONE) !== 0;
  if ((flags & ABANDONED) !== 0 || state !== ROW.open || length === rollout.horizon) {
    // The observation this frame followed is not ours (lost, or taken before this learner came): no transition can be made of it.
    balance.dropped.abandoned++;
    if (state === ROW.open) dropOpen(rollout, balance, row);
    rollout.episodeStart[row] = rollout.length[row] as number;
    if (!done || autoreset === 'same-step') return begin(rollout, row);
    // Answered right away: a complete row has nothing left to hold.
    rollout.held[row] = 0;
    rollout.state[row] = ROW.ended;
    return FATE.acknowledge;
  }

  balance.pending++;
  const at = row * rollout.horizon + length;
  rollout.rewards[at] = reward;
  rollout.flags[at] = flags & DONE;
  rollout.bootstrap[at] = 0;
  rollout.length[row] = length + 1;
  const complete = length + 1 === rollout.horizon;
  if (!done) return begin(rollout, row) | (complete ? FATE.bootstrapObservation : 0);

  rollout.episodeStart[row] = length + 1;
  const cut = (flags & TERMINATED) === 0;
  if (autoreset === 'same-step') {
    return begin(rollout, row) | (cut && (flags & FINAL) !== 0 ? FATE.bootstrapFinal : 0);
  }
  rollout.state[row] = ROW.ended;
  return FATE.acknowledge | (cut ? FATE.bootstrapObservation : 0);
}
