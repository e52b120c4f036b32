// The balance finds every frame that is lost or counted twice, and tiers add up to the run.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DROP_REASONS, type DropReason } from '../../harness/contract/snapshot.js';
import { balanceBetween, balanceGap, type Counts, inFlight, NO_COUNTS } from '../../harness/ladder/balance.js';

const REASONS: readonly DropReason[] = DROP_REASONS;
const small = fc.nat({ max: 1000 });

/** What an honest learner counts after some steps of: publish, take, settle (each frame to one fate). */
const growth = fc.record({
  untaken: small,
  pending: small,
  trained: small,
  evaluated: small,
  superseded: small,
  dropped: fc.tuple(small, small, small, small, small, small),
  /** A learner died first: all that waited is dropped, but for some frames that its successor takes again. */
  death: fc.option(fc.record({ takenAgain: small })),
});
type Growth = typeof growth extends fc.Arbitrary<infer Value> ? Value : never;

function afterDeath(counts: Counts, takenAgain: number): Counts {
  const again = Math.min(takenAgain, counts.pending);
  const died = counts.dropped['learner-died'] + counts.pending - again;
  return { ...counts, taken: counts.taken - again, pending: 0, dropped: { ...counts.dropped, 'learner-died': died } };
}

/** Adds a stretch of honest work: what was in flight before may settle now, new frames come in. */
function after(before: Counts, step: Growth): Counts {
  const counts = step.death === null ? before : afterDeath(before, step.death.takenAgain);
  const settled = step.trained + step.evaluated + step.superseded + step.dropped.reduce((sum, each) => sum + each, 0);
  const published = counts.published + settled + step.untaken + step.pending;
  const pending = counts.pending + step.pending;
  const untaken = counts.published - counts.taken + step.untaken;
  return {
    published,
    taken: published - untaken,
    pending,
    trained: counts.trained + step.trained,
    evaluated: counts.evaluated + step.evaluated,
    superseded: counts.superseded + step.superseded,
    dropped: Object.fromEntries(REASONS.map((reason, i) => [reason, counts.dropped[reason] + (step.dropped[i] ?? 0)])) as Counts['dropped'],
  };
}

describe('balance', () => {
  it('is exact for every honest history, tier by tier and over the run', () => {
    fc.assert(
      fc.property(fc.array(growth, { minLength: 1, maxLength: 8 }), (steps) => {
        let from = NO_COUNTS;
        let publishedOfTiers = 0;
        for (const step of steps) {
          const to = after(from, step);
          const balance = balanceBetween(from, to);
          assert.equal(balanceGap(balance), 0);
          assert.equal(balance.carried_in, inFlight(from));
          publishedOfTiers += balance.published - balance.carried_in;
          from = to;
        }
        assert.equal(publishedOfTiers, from.published);
        assert.equal(balanceGap(balanceBetween(NO_COUNTS, from)), 0);
      }),
    );
  });

  it('shows any number of frames lost or counted twice, whatever counter is wrong', () => {
    fc.assert(
      fc.property(
        growth,
        fc.constantFrom('taken', 'trained', 'evaluated', 'superseded', 'pending', ...REASONS),
        fc.integer({ min: -50, max: 50 }).filter((wrong) => wrong !== 0),
        (step, counter, wrong) => {
          const honest = after(NO_COUNTS, step);
          const counts: Counts = REASONS.includes(counter as DropReason)
            ? { ...honest, dropped: { ...honest.dropped, [counter]: honest.dropped[counter as DropReason] + wrong } }
            : { ...honest, [counter]: honest[counter as 'taken'] + wrong };
          assert.equal(balanceGap(balanceBetween(NO_COUNTS, counts)), counter === 'taken' ? wrong : -wrong);
        },
      ),
    );
  });
});
