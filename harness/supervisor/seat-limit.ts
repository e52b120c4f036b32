// Refuses a plan with more seats than a run has room for, and works out what would fit: a larger pack, larger groups, or fewer envs. Pure.
import { EnvladderError } from '../contract/errors.js';
import { MAX_WORKERS } from '../contract/limits.js';
import type { Plan } from '../contract/plan.js';
import type { Seat } from './seat-plan.js';

/** Throws `bad-plan` with the numbers when `seats` are more than MAX_WORKERS. */
export function refuseTooManySeats(plan: Plan, seats: readonly Seat[]): void {
  if (seats.length <= MAX_WORKERS) return;
  const own = plan.mix.map(({ name }, entry) => {
    const mine = seats.filter(
      ({ isolation, dormant, pieces }) => (isolation !== 'inline' || dormant !== null) && pieces[0]?.entry === entry,
    );
    return {
      name,
      seats: mine.length,
      envs: mine.reduce((sum, { pieces }) => sum + (pieces[0]?.envs ?? 0), 0),
      grouped: mine[0]?.dormant ?? null,
    };
  });
  const worst = own.reduce((a, b) => (b.seats > a.seats ? b : a));
  const room = MAX_WORKERS - (seats.length - worst.seats);
  // Tiers and groups end in a smaller pack each: one seat a tier is set aside for it.
  const fits = room > plan.tiers.length ? Math.ceil(worst.envs / (room - plan.tiers.length)) : null;
  const field =
    worst.grouped === null
      ? `'pack' of mix entry '${worst.name}'`
      : `groups.size${own.length > 1 ? ' (and pack, where entries are isolated)' : ''}`;
  const remedy = fits === null ? 'plan fewer isolated envs, or fewer workers' : `raise ${field} to ${fits} or more, or plan fewer envs`;
  throw new EnvladderError(
    'bad-plan',
    `the plan needs ${seats.length} seats (workers, and packs of isolated envs), ${worst.seats} of them for the ${worst.envs} envs of '${worst.name}'; the limit is ${MAX_WORKERS}; ${remedy}`,
    { detail: { seats: seats.length, limit: MAX_WORKERS, entry: worst.name, entrySeats: worst.seats, fits } },
  );
}
