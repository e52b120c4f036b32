// Goal: the hand-written statistics agree with SciPy and obey the laws they must obey for any data.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { bootstrapInterval } from '../../reports/stats/bootstrap.js';
import { hodgesLehmann } from '../../reports/stats/hodges-lehmann.js';
import { holmAdjusted } from '../../reports/stats/holm.js';
import { leastPossibleP, mannWhitney } from '../../reports/stats/mann-whitney.js';
import { median } from '../../reports/stats/median.js';
import { noiseFloor } from '../../reports/stats/noise-floor.js';
import { seededRandom, shuffled } from '../../reports/stats/seeded-random.js';

interface Golden {
  readonly mann_whitney: readonly { x: number[]; y: number[]; u: number; p: number; exact: boolean }[];
  readonly intervals: readonly { base: number[]; candidate: number[]; shift: number; low: number; high: number }[];
  readonly holm: readonly { p: number[]; adjusted: number[] }[];
}

const golden = JSON.parse(readFileSync(new URL('../golden/stats.json', import.meta.url), 'utf8')) as Golden;

function near(actual: number, wanted: number, relative: number, what: string): void {
  assert.ok(Math.abs(actual - wanted) <= relative * Math.max(Math.abs(wanted), 1e-300), `${what}: ${actual}, SciPy says ${wanted}`);
}

/** Whole numbers, so that shifts are exact and ties are common. */
const sample = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 9 });

test('Mann-Whitney gives the U and p of SciPy: exact, exact with ties, and asymptotic', () => {
  for (const [i, each] of golden.mann_whitney.entries()) {
    const found = mannWhitney(each.x, each.y);
    assert.equal(found.u, each.u, `case ${i}: U`);
    assert.equal(found.exact, each.exact, `case ${i}: exact`);
    near(found.p, each.p, 1e-9, `case ${i}: p`);
  }
});

test('Hodges-Lehmann is the median of all differences, and the bootstrap interval is the one SciPy finds', () => {
  for (const { base, candidate, shift, low, high } of golden.intervals) {
    near(hodgesLehmann(base, candidate), shift, 1e-9, 'shift');
    const interval = bootstrapInterval(base, candidate, hodgesLehmann, { seed: 5 });
    assert.ok(interval !== null);
    const tenth = (high - low) / 10;
    assert.ok(Math.abs(interval.low - low) < tenth && Math.abs(interval.high - high) < tenth, JSON.stringify({ interval, low, high }));
  }
});

test('Holm raises p-values as its definition says', () => {
  for (const { p, adjusted } of golden.holm) {
    for (const [i, value] of holmAdjusted(p).entries()) near(value, adjusted[i] as number, 1e-12, 'adjusted p');
  }
});

test('swapping the sides leaves p, mirrors U and negates the shift', () => {
  fc.assert(
    fc.property(sample, sample, (x, y) => {
      const there = mannWhitney(x, y);
      const back = mannWhitney(y, x);
      assert.ok(Math.abs(there.p - back.p) < 1e-12);
      assert.equal(there.u + back.u, x.length * y.length);
      assert.equal(hodgesLehmann(x, y) + hodgesLehmann(y, x), 0);
    }),
  );
});

test('adding a constant to both sides changes nothing; adding it to one side adds it to the shift', () => {
  fc.assert(
    fc.property(sample, sample, fc.integer({ min: -1000, max: 1000 }), (x, y, constant) => {
      const moved = (values: number[]) => values.map((value) => value + constant);
      assert.deepEqual(mannWhitney(moved(x), moved(y)), mannWhitney(x, y));
      assert.equal(hodgesLehmann(x, moved(y)), hodgesLehmann(x, y) + constant);
    }),
  );
});

test('the order of runs does not matter', () => {
  fc.assert(
    fc.property(sample, sample, fc.integer(), (x, y, seed) => {
      const random = seededRandom(seed);
      assert.deepEqual(mannWhitney(shuffled(x, random), shuffled(y, random)), mannWhitney(x, y));
      assert.equal(hodgesLehmann(shuffled(x, random), shuffled(y, random)), hodgesLehmann(x, y));
    }),
  );
});

test('a p-value is never below what the number of runs allows, and reaches it for sides that do not overlap', () => {
  fc.assert(
    fc.property(sample, sample, (x, y) => {
      const least = leastPossibleP(x.length, y.length);
      assert.ok(mannWhitney(x, y).p >= least * (1 - 1e-12));
      const apart = (values: number[], offset: number) => values.map((_, i) => offset + i);
      assert.ok(Math.abs(mannWhitney(apart(x, 0), apart(y, 1000)).p - least) < 1e-12);
    }),
  );
});

test('values that are all equal, and empty sides, are no difference', () => {
  assert.equal(mannWhitney([3, 3, 3], [3, 3]).p, 1);
  assert.equal(mannWhitney([], [1, 2]).p, 1);
  assert.equal(mannWhitney(new Array(40).fill(2), new Array(40).fill(2)).p, 1);
  assert.ok(Number.isNaN(hodgesLehmann([], [1])));
  assert.equal(bootstrapInterval([1], [1, 2], hodgesLehmann, { seed: 1 }), null);
});

test('the interval is the same for the same seed, and another for another', () => {
  const base = [1, 2, 4, 7, 11, 16, 22, 29];
  const candidate = [3, 5, 9, 15, 23, 33, 45, 59];
  const at = (seed: number) => bootstrapInterval(base, candidate, hodgesLehmann, { seed, draws: 200 });
  assert.deepEqual(at(1), at(1));
  assert.notDeepEqual(at(1), at(2));
});

test('the noise floor is the typical distance of two halves as a share of the median, whatever the unit', () => {
  const values = [100, 104, 97, 102, 99, 101, 95, 103];
  const floor = noiseFloor(values, 1);
  assert.ok(floor !== null && floor > 0.002 && floor < 0.05, String(floor));
  near(
    noiseFloor(
      values.map((value) => value * 4096),
      1,
    ) ?? 0,
    floor,
    1e-9,
    'floor in another unit',
  );
  assert.equal(noiseFloor([5, 5, 5, 5], 1), 0);
  assert.equal(noiseFloor([1, 2, 3], 1), null);
  assert.equal(median([4, 1, 3, 2]), 2.5);
});
