// Where every published frame went, and whether the sum is right. What is in flight is counted by itself (published but not taken, and
// taken but waiting in a rollout), never as "the rest": so a frame lost or counted twice makes the sum fail. Pure.
import type { Balance } from '../contract/run-record.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';

/** The counts a balance is made of, at one moment. */
export type Counts = Pick<LearnerSnapshot, 'taken' | 'trained' | 'evaluated' | 'superseded' | 'dropped' | 'pending' | 'published'>;

/** Before the first frame. */
export const NO_COUNTS: Counts = {
  taken: 0,
  trained: 0,
  evaluated: 0,
  superseded: 0,
  dropped: { reset: 0, abandoned: 0, quarantined: 0, unfinished: 0, 'learner-died': 0, 'bad-update': 0 },
  pending: 0,
  published: 0,
};

/** Frames published and not yet accounted for: not taken, or taken and waiting. */
export function inFlight(counts: Counts): number {
  return counts.published - counts.taken + counts.pending;
}

/** What happened to frames between two moments. `carried_in` were published before `from` and are accounted for here. */
export function balanceBetween(from: Counts, to: Counts): Balance {
  const carriedIn = inFlight(from);
  const dropped: Record<string, number> = {};
  for (const [reason, count] of Object.entries(to.dropped))
    dropped[reason] = count - (from.dropped[reason as keyof Counts['dropped']] ?? 0);
  return {
    published: to.published - from.published + carriedIn,
    carried_in: carriedIn,
    trained: to.trained - from.trained,
    evaluated: to.evaluated - from.evaluated,
    superseded: to.superseded - from.superseded,
    in_flight: inFlight(to),
    dropped,
  };
}

/** published - (trained + evaluated + superseded + in_flight + all dropped): 0 when nothing was lost or counted twice. */
export function balanceGap(balance: Balance): number {
  const dropped = Object.values(balance.dropped).reduce((sum, count) => sum + count, 0);
  return balance.published - (balance.trained + balance.evaluated + balance.superseded + balance.in_flight + dropped);
}
