import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_PLANE_BYTES } from '../../harness/contract/limits.js';
import type { EntryMessage } from '../../harness/contract/messages.js';
import { type Plan, planSchema, resolvePlan } from '../../harness/contract/plan.js';
import { apportion } from '../../harness/supervisor/apportion.js';
import { type BlockPlan, planBlocks } from '../../harness/supervisor/block-plan.js';

/** Positive weights as shares that sum to 1. */
const shares = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 }).map((weights) => {
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
});
const totals = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 5 }).map((steps) => {
  let total = 0;
  return steps.map((step) => (total += step));
});

function plan(mix: readonly number[], tiers: readonly number[], workers: number, rgbEntry = -1): { plan: Plan; entries: EntryMessage[] } {
  const names = mix.map((_, index) => `kind-${index}`);
  const resolved = resolvePlan(
    planSchema.parse({ tiers, workers, mix: Object.fromEntries(names.map((name, index) => [name, { share: mix[index], kind: name }])) }),
    2,
  );
  const entries = names.map(
    (name, index): EntryMessage => ({
      name,
      kind: name,
      config: {},
      spaces: {
        observation: { obs: { dtype: 'u8', shape: index === rgbEntry ? [224, 224, 3] : [4], low: 0, high: 255 } },
        action: { type: 'discrete', n: 2 },
      },
      isolation: 'inline',
      deadlines: { construct: 30, reset: 30, step: 30, close: 30 },
    }),
  );
  return { plan: resolved, entries };
}

/** Every env of the layout: id -> [tier, entry]. Fails on an id that is dealt twice. */
function placed(layout: BlockPlan): Map<number, string> {
  const found = new Map<number, string>();
  for (const { spec, entryOf, tierOf } of layout.segments) {
    spec.blocks.forEach((block, index) => {
      for (let slot = 0; slot < block.slots; slot++) {
        const envId = block.firstEnvId + slot;
        assert.ok(!found.has(envId), `env ${envId} is dealt twice`);
        found.set(envId, `${tierOf[index]}/${entryOf[index]}/${block.kind}`);
      }
    });
  }
  return found;
}

describe('apportion', () => {
  it('sums to each total exactly, never shrinks an entry, and stays within one env of the shares', () => {
    // Goal: a tier of 7,000 envs is 7,000 envs, and growth never stops one.
    fc.assert(
      fc.property(shares, totals, (some, rising) => {
        const rows = apportion(some, rising);
        rising.forEach((total, tier) => {
          const row = rows[tier] ?? [];
          assert.equal(
            row.reduce((a, b) => a + b, 0),
            total,
          );
          row.forEach((count, entry) => {
            assert.ok(count >= (rows[tier - 1]?.[entry] ?? 0));
          });
        });
        rows[0]?.forEach((count, entry) => {
          assert.ok(Math.abs(count - (some[entry] ?? 0) * (rising[0] ?? 0)) < 1);
        });
      }),
    );
  });

  it('gives the remainder to the largest fraction and ties to the earlier entry', () => {
    // Goal: counts are those a reader of the plan works out by hand.
    assert.deepEqual(apportion([0.5, 0.5], [1000, 3001]), [
      [500, 500],
      [1501, 1500],
    ]);
    assert.deepEqual(apportion([0.7, 0.2, 0.1], [10, 13]), [
      [7, 2, 1],
      [9, 3, 1],
    ]);
    assert.deepEqual(apportion([0.6, 0.3, 0.1], [1000]), [[600, 300, 100]]);
  });
});

describe('planBlocks', () => {
  it('deals every env id once, without gaps, and the same to tier and entry for any number of workers', () => {
    // Goal: env ids do not depend on the machine.
    fc.assert(
      fc.property(shares, totals, fc.integer({ min: 1, max: 9 }), (some, rising, workers) => {
        const { plan: many, entries } = plan(some, rising, workers);
        const { plan: single } = plan(some, rising, 1);
        const found = placed(planBlocks('run', many, entries));
        assert.equal(found.size, rising.at(-1));
        assert.equal(Math.max(...found.keys()), found.size - 1);
        assert.deepEqual(
          new Map([...found].sort(([a], [b]) => a - b)),
          new Map([...placed(planBlocks('run', single, entries))].sort(([a], [b]) => a - b)),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('spreads each tier and entry evenly, gives blocks ids of their own, and workers without envs no segment', () => {
    // Goal: no worker has more than one env more of an entry than another.
    fc.assert(
      fc.property(shares, totals, fc.integer({ min: 1, max: 9 }), (some, rising, workers) => {
        const { plan: resolved, entries } = plan(some, rising, workers);
        const { segments } = planBlocks('run', resolved, entries);
        const ids = segments.flatMap(({ spec }) => spec.blocks.map(({ id }) => id));
        assert.equal(new Set(ids).size, ids.length);
        segments.forEach(({ spec }, index) => {
          assert.equal(spec.worker, index);
          assert.ok(spec.blocks.length > 0);
        });
        const sizes = new Map<string, number[]>();
        for (const { spec, entryOf, tierOf } of segments) {
          spec.blocks.forEach(({ slots }, index) => {
            const key = `${tierOf[index]}/${entryOf[index]}`;
            sizes.set(key, [...(sizes.get(key) ?? []), slots]);
          });
        }
        for (const list of sizes.values()) assert.ok(Math.max(...list) - Math.min(...list) <= 1);
      }),
      { numRuns: 40 },
    );
  });

  it('cuts blocks so that no plane passes the limit', () => {
    // Goal: 20,000 envs with the account's frames fit one worker without an ArrayBuffer over 2 GiB.
    const { plan: resolved, entries } = plan([1], [20_000], 1, 0);
    const [segment] = planBlocks('run', resolved, entries).segments;
    const blocks = segment?.spec.blocks ?? [];
    assert.ok(blocks.length > 1);
    assert.equal(
      blocks.reduce((sum, { slots }) => sum + slots, 0),
      20_000,
    );
    for (const { slots, cells } of blocks) assert.ok(slots * (cells + 1) * 224 * 224 * 3 <= MAX_PLANE_BYTES);
  });

  it('refuses an observation of which not even one fits a plane, naming bytes and limit', () => {
    // Goal: a bad space is said before memory is touched.
    const { plan: resolved, entries } = plan([1], [1], 1);
    const entry = {
      ...entries[0],
      spaces: { ...entries[0]?.spaces, observation: { obs: { dtype: 'f64', shape: [2 ** 27], low: 0, high: 1 } } },
    };
    assert.throws(() => planBlocks('run', resolved, [entry as EntryMessage]), {
      code: 'bad-space',
      message: /3221225472 bytes.*2147483648/,
    });
  });
});
