// Goal: a verdict follows from samples and rule alone: clear data is decided, blurred data is not, one counter-example breaks "never", and no
// verdict depends on the order of samples, on other claims, or on the unit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClaimEntry, ClaimRule } from '../../../harness/contract/claims-record.js';
import { compareToBound, MIN_VALUES, ratioOf, ratioToBound } from '../../../reports/claims/estimates.js';
import { judgeClaim, judgeClaims } from '../../../reports/claims/judge-claims.js';
import { MADE_RECORD, madeEntry } from '../../fixtures/claims-record.js';

const RUNS = { numRuns: 10 };

function entryOf(old: number[], fresh: number[], rules: ClaimRule[]): ClaimEntry {
  const base = madeEntry('made');
  return { ...base, registered: { ...base.registered, rules }, samples: { rate: { old, new: fresh } } };
}
const ratioRule = (bound: number, relation: ClaimRule['relation'] = 'at-least'): ClaimRule => ({
  type: 'ratio',
  metric: 'rate',
  side: 'old',
  to: 'new',
  relation,
  bound,
});
/** Eight values within 2 % of `centre`. */
const near = (centre: number) =>
  fc.array(fc.double({ min: 0.99, max: 1.01, noNaN: true }), { minLength: 8, maxLength: 8 }).map((all) => all.map((x) => x * centre));

test('the made record has every verdict', () => {
  const { claims, counts } = judgeClaims(MADE_RECORD);
  assert.deepEqual(
    claims.map(({ entry, verdict }) => [entry.id, verdict]),
    [
      ['holds', 'held'],
      ['tears', 'did not hold'],
      ['open', 'not testable here'],
      ['elsewhere', 'not testable here'],
      ['broke', 'failed'],
      ['short', 'not testable here'],
    ],
  );
  assert.deepEqual(counts, { held: 1, 'did not hold': 1, 'not testable here': 3, failed: 1 });
  assert.match(claims[5]?.why ?? '', /not decided.*cut short: interrupted/);
});

test('a ratio far from its bound is decided, in the direction of the relation', () => {
  fc.assert(
    fc.property(near(400), near(100), fc.integer(), (old, fresh, seed) => {
      assert.equal(judgeClaim(entryOf(old, fresh, [ratioRule(2)]), seed).verdict, 'held');
      assert.equal(judgeClaim(entryOf(old, fresh, [ratioRule(8)]), seed).verdict, 'did not hold');
      assert.equal(judgeClaim(entryOf(old, fresh, [ratioRule(8, 'at-most')]), seed).verdict, 'held');
      assert.equal(judgeClaim(entryOf(old, fresh, [ratioRule(2, 'at-most')]), seed).verdict, 'did not hold');
    }),
    RUNS,
  );
});

test('a bound inside the interval is not decided, whichever way the rule points', () => {
  const [old, fresh] = [
    [100, 300, 150, 250, 120, 280],
    [100, 100, 100, 100, 100, 100],
  ];
  for (const relation of ['at-least', 'at-most'] as const)
    assert.equal(judgeClaim(entryOf(old as number[], fresh as number[], [ratioRule(2, relation)]), 1).verdict, 'not testable here');
});

test('fewer values than an interval needs decide nothing, however clear they look', () => {
  for (let n = 0; n < MIN_VALUES; n++) {
    const entry = entryOf(new Array<number>(n).fill(1000), new Array<number>(n).fill(1), [ratioRule(2)]);
    assert.equal(judgeClaim(entry, 1).verdict, 'not testable here');
  }
});

test('one counter-example breaks "at most 0" of a count, and none keeps it', () => {
  const never = { relation: 'at-most', bound: 0 } as const;
  assert.equal(compareToBound([0, 0, 0, 0, 0, 0, 0, 1], 'count', never, 1).holds, 'no');
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 3, maxLength: 12 }), (values) => {
      const { holds } = compareToBound(values, 'count', never, 1);
      assert.equal(holds, values.some((value) => value > 0) ? 'no' : 'yes');
    }),
    RUNS,
  );
});

test('a base of zeros: anything above it is infinitely more, and two zeros say nothing', () => {
  const rule = { relation: 'at-least', bound: 10 } as const;
  assert.equal(ratioToBound([1, 2, 3], [0, 0, 0], 'count', rule, 1).holds, 'yes');
  assert.equal(ratioToBound([1, 2, 3], [0, 0, 0], 'count', { relation: 'at-most', bound: 10 }, 1).holds, 'no');
  assert.equal(ratioToBound([0, 0, 0], [0, 0, 0], 'count', rule, 1).holds, 'open');
  assert.equal(ratioToBound([], [1, 2, 3], 'count', rule, 1).holds, 'open');
});

test('order of samples, unit and other claims change nothing', () => {
  const values = fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 3, maxLength: 10 });
  fc.assert(
    fc.property(values, values, fc.double({ min: 0.001, max: 1000, noNaN: true }), (old, fresh, unit) => {
      const rules = [ratioRule(1.5)];
      const straight = judgeClaim(entryOf(old, fresh, rules), 3);
      const turned = judgeClaim(entryOf(old.toReversed(), fresh.toReversed(), rules), 3);
      assert.deepEqual(turned.rules, straight.rules);
      const scaled = ratioOf(
        'old',
        old.map((x) => x * unit),
        'new',
        fresh.map((x) => x * unit),
        'rate',
        3,
      );
      const plain = ratioOf('old', old, 'new', fresh, 'rate', 3);
      assert.ok(Math.abs((scaled?.value ?? 0) / (plain?.value ?? 1) - 1) < 1e-6);
    }),
    RUNS,
  );
  const alone = judgeClaims({ ...MADE_RECORD, claims: MADE_RECORD.claims.slice(1, 2) }).claims[0];
  assert.deepEqual(alone, judgeClaims(MADE_RECORD).claims[1]);
});

test('the interval of a ratio holds the true ratio about as often as it says', () => {
  // 95 % of percentile intervals of eight values each: a little less in truth, never far less.
  let inside = 0;
  let state = 12345;
  const noise = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 0.8 + (0.4 * state) / 2 ** 32;
  };
  const rounds = 100;
  for (let i = 0; i < rounds; i++) {
    const [a, b] = [Array.from({ length: 8 }, () => 3 * noise()), Array.from({ length: 8 }, noise)];
    const interval = ratioOf('a', a, 'b', b, 'time', i)?.interval;
    if (interval != null && interval.low <= 3 && interval.high >= 3) inside++;
  }
  assert.ok(inside / rounds > 0.85, `${inside} of ${rounds}`);
});

test('values that belong together are compared within their pairs, whatever lies between the pairs', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 8, maxLength: 16 }),
      fc.double({ min: 0.5, max: 2, noNaN: true }),
      fc.constantFrom('time' as const, 'share' as const),
      fc.integer(),
      (base, factor, kind, seed) => {
        const values = base.map((value) => value * factor);
        const ratio = ratioOf('new', values, 'old', base, kind, seed, true);
        assert.ok(ratio !== null && ratio.interval !== null);
        for (const found of [ratio.value, ratio.interval.low, ratio.interval.high])
          assert.ok(Math.abs(found / factor - 1) < 1e-9, `${found} for ${factor}`);
        // The order in which pairs were taken changes nothing, and a value without a partner is left out.
        const turned = ratioOf('new', [...values].reverse(), 'old', [...base].reverse(), kind, seed, true);
        assert.deepEqual(turned, ratio);
        assert.deepEqual(ratioOf('new', [...values, 5], 'old', base, kind, seed, true), ratio);
      },
    ),
    RUNS,
  );
  const [base, values] = [
    [10, 1000, 30, 500, 20, 800],
    [11, 1150, 32, 560, 23, 870],
  ];
  const rule: ClaimRule = { ...ratioRule(1.2, 'at-most'), side: 'new', to: 'old' } as ClaimRule;
  const entry = entryOf(base, values, [rule]);
  assert.equal(judgeClaim(entry, 1).verdict, 'not testable here');
  assert.equal(judgeClaim({ ...entry, registered: { ...entry.registered, paired: true } }, 1).verdict, 'held');
});
