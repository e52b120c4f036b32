// Goal: seats and groups are what the plan says for any mix, and an env is the same env whatever seat it sits in.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { EntryMessage } from '../../harness/contract/messages.js';
import { type Plan, planSchema, resolvePlan } from '../../harness/contract/plan.js';
import type { Isolation } from '../../harness/contract/plan-health.js';
import { type BlockPlan, planBlocks } from '../../harness/supervisor/block-plan.js';
import { DEFAULT_PACK, SEATS_PER_HOST } from '../../harness/supervisor/seat-plan.js';

interface EntrySpec {
  readonly share: number;
  readonly isolation: Isolation;
  readonly pack?: number;
}

const DEADLINES = { construct: 30, reset: 30, step: 30, close: 30 };

function lay(mix: readonly EntrySpec[], tiers: readonly number[], workers: number, groups: Record<string, unknown> = {}) {
  const names = mix.map((_, index) => `kind-${index}`);
  const plan: Plan = resolvePlan(
    planSchema.parse({
      tiers,
      workers,
      groups,
      mix: Object.fromEntries(
        names.map((name, index) => [
          name,
          { share: mix[index]?.share, ...(mix[index]?.pack === undefined ? {} : { pack: mix[index]?.pack }) },
        ]),
      ),
    }),
    2,
  );
  const entries = names.map(
    (name, index): EntryMessage => ({
      name,
      kind: name,
      config: {},
      isolation: mix[index]?.isolation ?? 'inline',
      deadlines: DEADLINES,
      spaces: { observation: { obs: { dtype: 'f32', shape: [4], low: 0, high: 1 } }, action: { type: 'discrete', n: 2 } },
    }),
  );
  return { plan, layout: planBlocks('run', plan, entries) };
}

/** Env id -> [tier, entry]; fails on one that is dealt twice. */
function placed(layout: BlockPlan): Map<number, string> {
  const found = new Map<number, string>();
  for (const { spec, entryOf, tierOf } of layout.segments) {
    spec.blocks.forEach(({ firstEnvId, slots }, index) => {
      for (let envId = firstEnvId; envId < firstEnvId + slots; envId++) {
        assert.ok(!found.has(envId), `env ${envId} is dealt twice`);
        found.set(envId, `${tierOf[index]}/${entryOf[index]}`);
      }
    });
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

const envsOf = (layout: BlockPlan, seat: number): number =>
  layout.segments[seat]?.spec.blocks.reduce((sum, { slots }) => sum + slots, 0) ?? 0;

const mixes = fc
  .array(
    fc.record({
      weight: fc.integer({ min: 1, max: 20 }),
      isolation: fc.constantFrom<Isolation>('inline', 'thread', 'process'),
      pack: fc.integer({ min: 8, max: 200 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => {
    const sum = list.reduce((total, { weight }) => total + weight, 0);
    return list.map(({ weight, isolation, pack }) => ({ share: weight / sum, isolation, pack }));
  });
const tiers = fc.array(fc.integer({ min: 1, max: 250 }), { minLength: 1, maxLength: 3 }).map((steps) => {
  let total = 0;
  return steps.map((step) => (total += step));
});
const groupings = fc.oneof(
  fc.constant({}),
  fc.record({
    start: fc.constant('groups'),
    size: fc.integer({ min: 10, max: 90 }),
    wakeSteps: fc.constant(1),
    dormant: fc.constantFrom('not-started', 'frozen', 'throttled'),
  }),
);

describe('seats', () => {
  it('deal every env once, to the same tier and entry as a single worker does, for any mix, pack and grouping', () => {
    // Goal: trajectories depend on the env id alone, so the id must not depend on seats.
    fc.assert(
      fc.property(mixes, tiers, fc.integer({ min: 1, max: 9 }), groupings, (mix, rising, workers, groups) => {
        const { layout } = lay(mix, rising, workers, groups);
        const plain = lay(
          mix.map(({ share }) => ({ share, isolation: 'inline' as const })),
          rising,
          1,
        ).layout;
        assert.deepEqual(placed(layout), placed(plain));
      }),
      { numRuns: 100 },
    );
  });

  it('keep packs within their size and to one entry, threads of one entry to a host, and number hosts without a gap', () => {
    // Goal: what one isolated env breaks is its pack (or the threads of its kind), never an inline worker.
    fc.assert(
      fc.property(mixes, tiers, fc.integer({ min: 1, max: 5 }), groupings, (mix, rising, workers, groups) => {
        const { plan, layout } = lay(mix, rising, workers, groups);
        const hosts = new Map<number, number[]>();
        layout.segments.forEach((segment, seat) => {
          assert.equal(segment.spec.worker, seat);
          assert.equal(segment.executor, segment.isolation === 'thread' ? 'thread' : 'process');
          hosts.set(segment.host, [...(hosts.get(segment.host) ?? []), seat]);
          for (const entry of segment.entryOf) assert.equal(mix[entry]?.isolation, segment.isolation);
          if (segment.isolation === 'inline') return;
          assert.equal(new Set(segment.entryOf).size, 1);
          assert.ok(envsOf(layout, seat) <= (plan.mix[segment.entryOf[0] ?? 0]?.pack ?? DEFAULT_PACK));
        });
        assert.deepEqual(
          [...hosts.keys()],
          [...hosts.keys()].sort((a, b) => a - b),
        );
        assert.equal(Math.max(...hosts.keys()) + 1, hosts.size);
        for (const seats of hosts.values()) {
          assert.ok(seats.length <= SEATS_PER_HOST);
          if (seats.length === 1) continue;
          assert.ok(seats.every((seat) => layout.segments[seat]?.executor === 'thread'));
          assert.equal(new Set(seats.map((seat) => layout.segments[seat]?.entryOf[0])).size, 1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('of inline entries stay with the workers of the plan, and come first', () => {
    // Goal: an isolated entry takes nothing from the workers of the others.
    const { layout } = lay(
      [
        { share: 0.5, isolation: 'inline' },
        { share: 0.5, isolation: 'process', pack: 10 },
      ],
      [80],
      2,
    );
    assert.deepEqual(
      layout.segments.map(({ isolation }, seat) => `${isolation} ${envsOf(layout, seat)}`),
      ['inline 20', 'inline 20', 'process 10', 'process 10', 'process 10', 'process 10'],
    );
  });

  it('of the published 7,000 envs, all isolated, fit a run with the default pack', () => {
    // Goal: the default does not refuse the plan that the harness is built for.
    assert.equal(lay([{ share: 1, isolation: 'process' }], [7000], 1).layout.segments.length, 219);
  });

  it('past the limit are refused with the numbers and a pack that fits', () => {
    // Goal: who reads the error can repair the plan without arithmetic.
    const mix = (pack: number): EntrySpec[] => [
      { share: 0.5, isolation: 'inline' },
      { share: 0.5, isolation: 'process', pack },
    ];
    let fits = 0;
    assert.throws(
      () => lay(mix(2), [500, 2000], 4),
      (error: Error & { code: string; detail: Record<string, number> }) => {
        fits = error.detail.fits ?? 0;
        return error.code === 'bad-plan' && /504 seats.*500 of them.*1000 envs of 'kind-1'.*limit is 256.*raise 'pack'/.test(error.message);
      },
    );
    assert.ok(fits >= 4 && lay(mix(fits), [500, 2000], 4).layout.segments.length <= 256);
    assert.throws(
      () => lay([{ share: 1, isolation: 'inline' }], [7000], 1, { start: 'groups', wakeSteps: 1, size: 20, dormant: 'frozen' }),
      {
        code: 'bad-plan',
        message: /350 seats.*raise groups\.size to 28/,
      },
    );
  });
});

describe('groups', () => {
  it('hold at most `size` envs of one entry, in the order of their ids, and every env once', () => {
    // Goal: "100 groups of 70" is what wakes.
    fc.assert(
      fc.property(mixes, tiers, fc.integer({ min: 1, max: 5 }), groupings, (mix, rising, workers, groups) => {
        const { plan, layout } = lay(mix, rising, workers, groups);
        const seen: number[] = [];
        layout.groups.forEach((group, index) => {
          const ids = group.blocks.flatMap(([seat, block]) => {
            const segment = layout.segments[seat];
            const at = segment?.spec.blocks.findIndex(({ id }) => id === block) ?? -1;
            assert.equal(segment?.groupOf[at], index);
            assert.equal(segment.tierOf[at], group.tier);
            if (segment.dormant !== null) assert.equal(new Set(segment.groupOf).size, 1);
            const { firstEnvId = 0, slots = 0 } = segment.spec.blocks[at] ?? {};
            return Array.from({ length: slots }, (_, slot) => firstEnvId + slot);
          });
          assert.equal(ids.length, group.envs);
          if (plan.groups.start === 'groups') assert.ok(ids.length <= plan.groups.size);
          seen.push(...ids);
        });
        assert.deepEqual(seen, [...Array(rising.at(-1)).keys()]);
      }),
      { numRuns: 100 },
    );
  });

  it('of the account are 100 groups of 70, frozen ones with a seat each', () => {
    // Goal: the published grouping can be run as it was.
    const groups = { start: 'groups', size: 70, wakeSteps: 50 };
    const cold = lay([{ share: 1, isolation: 'inline' }], [7000], 1, groups).layout;
    assert.deepEqual([cold.segments.length, cold.groups.length, new Set(cold.groups.map(({ envs }) => envs)).size], [1, 100, 1]);
    const frozen = lay([{ share: 1, isolation: 'inline' }], [7000], 1, { ...groups, dormant: 'frozen' }).layout;
    assert.deepEqual([frozen.segments.length, frozen.segments[99]?.dormant], [100, 'frozen']);
  });
});
