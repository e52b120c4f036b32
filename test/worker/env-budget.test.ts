import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { healthSchema } from '../../harness/contract/plan-health.js';
import { backoffMs, budgetOf, type EnvBudget, judgeFailure, withinWindow } from '../../harness/worker/env-budget.js';

const budgets: fc.Arbitrary<EnvBudget> = fc.record({
  restarts: fc.integer({ min: 0, max: 20 }),
  windowMs: fc.integer({ min: 1, max: 1_000_000 }),
  coolDowns: fc.integer({ min: 0, max: 5 }),
  coolDownMs: fc.integer({ min: 1, max: 100_000 }),
  backoffBaseMs: fc.integer({ min: 1, max: 10_000 }),
  backoffMaxMs: fc.integer({ min: 1, max: 100_000 }),
});
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** Fates of failures at the given gaps, as the worker judges them. */
function live(gapsMs: readonly number[], budget: EnvBudget, chance: number, constructing = false): [number, string][] {
  let failures: number[] = [];
  let nowMs = 0;
  return gapsMs.map((gap) => {
    nowMs += gap;
    failures = [...withinWindow(failures, budget, nowMs), nowMs];
    return [nowMs, judgeFailure(failures.length, constructing, budget, chance).fate];
  });
}

describe('the budget of an env', () => {
  it('never rebuilds an env more often than its budget within any window', () => {
    // Goal: an env that fails at once for ever cannot cost more than its budget.
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 60 }), budgets, chances, (gaps, budget, chance) => {
        const fates = live(gaps, budget, chance);
        for (const [at] of fates) {
          const within = fates.filter(([t]) => t <= at && at - t < budget.windowMs);
          const rebuilt = within.filter(([, fate]) => fate === 'rebuild').length;
          assert.ok(rebuilt <= budget.restarts, `${rebuilt} rebuilds within ${budget.windowMs} ms`);
        }
      }),
    );
  });

  it('ends in quarantine after restarts + cool-downs failures in a row, and in rebuilds for ever when they are rare', () => {
    // Goal: the order is rebuilds, cool-downs, out; failures far apart are forgiven.
    fc.assert(
      fc.property(budgets, chances, (budget, chance) => {
        const tries = budget.restarts + budget.coolDowns;
        const row = live(new Array(tries + 1).fill(0), budget, chance).map(([, fate]) => fate);
        assert.deepEqual(row, [
          ...new Array(budget.restarts).fill('rebuild'),
          ...new Array(budget.coolDowns).fill('cool-down'),
          'quarantine',
        ]);
        if (budget.restarts === 0) return;
        const rare = live(new Array(30).fill(budget.windowMs), budget, chance);
        assert.ok(rare.every(([, fate]) => fate === 'rebuild'));
      }),
    );
  });

  it('does not let a constructor cool down: past its budget it is out', () => {
    // Goal: a broken asset ends in quarantine within a minute.
    fc.assert(
      fc.property(budgets, chances, (budget, chance) => {
        const row = live(new Array(budget.restarts + 1).fill(0), budget, chance, true).map(([, fate]) => fate);
        assert.equal(row.at(-1), 'quarantine');
        assert.ok(!row.includes('cool-down'));
      }),
    );
  });

  it('waits nothing before the first restart, then between half and all of a doubling span, never above the maximum', () => {
    // Goal: many envs that fail together do not come back together, and none waits longer than the plan says.
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), budgets, chances, (n, budget, chance) => {
        const wait = backoffMs(n, budget, chance);
        if (n === 1) assert.equal(wait, 0);
        else {
          const full = Math.min(budget.backoffMaxMs, budget.backoffBaseMs * 2 ** Math.min(n - 2, 60));
          assert.ok(wait >= full / 2 && wait <= full && wait <= budget.backoffMaxMs, `${wait} of ${full}`);
        }
      }),
    );
  });

  it('takes its numbers from the plan', () => {
    // Goal: seconds of the plan are milliseconds here, one by one.
    const health = healthSchema.parse({
      envBudget: { restarts: 3, perSeconds: 60 },
      coolDowns: 2,
      coolDownSeconds: 7,
      backoff: { baseSeconds: 0.5 },
    });
    assert.deepEqual(budgetOf(health), {
      restarts: 3,
      windowMs: 60_000,
      coolDowns: 2,
      coolDownMs: 7000,
      backoffBaseMs: 500,
      backoffMaxMs: 30_000,
    });
  });
});
