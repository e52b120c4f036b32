// Goal: equal programs are not called different, slower ones are, and each verdict means what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ALPHA, type JudgeOptions, judgeMetrics, type MetricSamples } from '../../../reports/compare/judge-metrics.js';
import type { MetricKey } from '../../../reports/compare/run-metrics.js';
import { type Random, seededRandom } from '../../../reports/stats/seeded-random.js';
import { normal } from './made-runs.js';

const RATE: MetricKey = { name: 'rate', tierEnvs: 1000, unit: 'rate', better: 'higher', kind: 'timing', noise: 0.03 };
const TIME: MetricKey = { ...RATE, name: 'time', unit: 'seconds', better: 'lower' };
const COUNT: MetricKey = { ...RATE, name: 'bytes', unit: 'bytes', better: 'lower', kind: 'count', noise: 0 };

/** Few draws: thousands of comparisons. */
const QUICK: JudgeOptions = { seed: 1, draws: 99 };

function drawn(random: Random, runs: number, level: number, noise: number): number[] {
  return Array.from({ length: runs }, () => level * (1 + noise * normal(random)));
}

function verdictOf(key: MetricKey, base: readonly number[], candidate: readonly number[], options: JudgeOptions = { seed: 1 }, slack = 0) {
  const [judged] = judgeMetrics([{ key, base, candidate, slack }], options);
  assert.ok(judged !== undefined);
  return judged;
}

/** Eight runs around `level`, 1 % apart at most. */
const around = (level: number) => [0, 1, -1, 2, -2, 3, -3, 4].map((step) => level * (1 + step / 800));

test('1,000 comparisons of a program with itself raise no more false alarms than alpha, also without any threshold', () => {
  const random = seededRandom(20261130);
  const metrics = 6;
  let alarms = 0;
  let rejections = 0;
  for (let comparison = 0; comparison < 1000; comparison++) {
    const samples = Array.from({ length: metrics }, (_, i): MetricSamples => {
      const key = { ...(i % 2 === 0 ? RATE : TIME), name: `metric-${i}`, noise: 0 };
      return { key, base: drawn(random, 8, 100, 0.02), candidate: drawn(random, 8, 100, 0.02), slack: 0 };
    });
    const judged = judgeMetrics(samples, QUICK);
    if (judged.some(({ verdict }) => verdict === 'regressed' || verdict === 'improved')) alarms++;
    if (judged.some(({ pAdjusted }) => (pAdjusted ?? 1) <= ALPHA)) rejections++;
  }
  assert.ok(alarms <= ALPHA * 1000, `${alarms} of 1,000 comparisons of equal programs raised an alarm`);
  // The test by itself: Holm keeps it near alpha from below. Far below, it would have no power; so both ends are watched.
  assert.ok(rejections <= 65 && rejections >= 15, `${rejections} of 1,000 comparisons of equal programs had a metric with p <= alpha`);
});

test('a planted slow-down of 10 % is found in nearly every comparison, on the metric that has it and on no other', () => {
  const random = seededRandom(7);
  let found = 0;
  let elsewhere = 0;
  for (let comparison = 0; comparison < 100; comparison++) {
    const slow: MetricSamples = { key: RATE, base: drawn(random, 8, 5000, 0.02), candidate: drawn(random, 8, 4500, 0.02), slack: 0 };
    const same: MetricSamples = { key: TIME, base: drawn(random, 8, 3, 0.02), candidate: drawn(random, 8, 3, 0.02), slack: 0 };
    const [first, second] = judgeMetrics([slow, same], QUICK);
    if (first?.verdict === 'regressed') found++;
    if (second?.verdict === 'regressed' || second?.verdict === 'improved') elsewhere++;
  }
  assert.ok(found >= 95, `found in ${found} of 100`);
  assert.ok(elsewhere <= 5, `${elsewhere} false alarms`);
});

test('rates regress downward, times upward, and the other way is an improvement', () => {
  assert.equal(verdictOf(RATE, around(100), around(85)).verdict, 'regressed');
  assert.equal(verdictOf(RATE, around(100), around(115)).verdict, 'improved');
  assert.equal(verdictOf(TIME, around(100), around(115)).verdict, 'regressed');
  assert.equal(verdictOf(TIME, around(100), around(85)).verdict, 'improved');
});

test('a shift within the declared noise is unchanged even when the test is certain of it', () => {
  const judged = verdictOf(RATE, around(100), around(98));
  assert.ok((judged.pAdjusted ?? 1) < ALPHA);
  assert.equal(judged.verdict, 'unchanged');
  assert.equal(verdictOf(RATE, around(100), around(98), { seed: 1, noise: { rate: 0.005 } }).verdict, 'regressed');
});

test('a shift within twice the floor that the base shows against itself is not a regression', () => {
  const noisy = [100, 60, 140, 80, 120, 70, 130, 95];
  const judged = verdictOf(
    { ...RATE, noise: 0 },
    noisy,
    noisy.map((value) => value * 0.93),
  );
  assert.ok((judged.floor ?? 0) > 0.05, String(judged.floor));
  assert.equal(judged.threshold, 2 * (judged.floor ?? 0));
  assert.notEqual(judged.verdict, 'regressed');
});

test('a wide interval is inconclusive, a narrow one around nothing is unchanged', () => {
  const noisy = [100, 60, 140, 80, 120, 70, 130, 95];
  assert.equal(
    verdictOf(
      RATE,
      noisy,
      [...noisy].map((value) => value * 0.7),
    ).verdict,
    'inconclusive-noisy',
  );
  assert.equal(verdictOf(RATE, around(100), around(100.1)).verdict, 'unchanged');
});

test('a machine that scatters widely rules nothing out: what lies within its own floor is inconclusive, not unchanged', () => {
  const judged = verdictOf(RATE, [80, 82, 84, 86, 114, 116, 118, 120], [99, 99.5, 100, 100.5, 101, 101.5, 100.2, 99.8]);
  assert.ok(
    (judged.interval?.low ?? -9) > -(judged.threshold ?? 0) && (judged.interval?.high ?? 9) < (judged.threshold ?? 0),
    JSON.stringify(judged),
  );
  assert.equal(judged.verdict, 'inconclusive-noisy');
});

test('too few runs are insufficient data, however far apart; how few depends on the number of metrics', () => {
  assert.equal(verdictOf(RATE, [100], [10]).verdict, 'insufficient-data');
  assert.equal(verdictOf(RATE, [100, 101, 99], [10, 11, 9]).verdict, 'insufficient-data');
  assert.equal(verdictOf(RATE, [100, 101, 99, 102], [10, 11, 9, 12]).verdict, 'regressed');
  const many = Array.from(
    { length: 4 },
    (_, i): MetricSamples => ({
      key: { ...RATE, name: `metric-${i}` },
      base: [100, 101, 99, 102],
      candidate: [10, 11, 9, 12],
      slack: 0,
    }),
  );
  assert.deepEqual([...new Set(judgeMetrics(many, QUICK).map(({ verdict }) => verdict))], ['insufficient-data']);
});

test('an interval beyond the threshold is not enough when the test does not pass among all metrics', () => {
  const base = [100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 110];
  const candidate = [105, 105.1, 105.2, 105.3, 105.4, 105.5, 105.6, 105.7];
  const others = Array.from(
    { length: 9 },
    (_, i): MetricSamples => ({ key: { ...TIME, name: `same-${i}` }, base, candidate: base, slack: 0 }),
  );
  const [alone] = judgeMetrics([{ key: TIME, base, candidate, slack: 0 }], { seed: 1 });
  const [among] = judgeMetrics([{ key: TIME, base, candidate, slack: 0 }, ...others], { seed: 1 });
  assert.equal(alone?.verdict, 'regressed');
  assert.ok((among?.interval?.low ?? 0) > (among?.threshold ?? 1), 'the interval lies beyond');
  assert.ok((among?.pAdjusted ?? 0) > ALPHA);
  assert.equal(among?.verdict, 'inconclusive-noisy');
});

test('a metric on one side only is missing or new', () => {
  assert.equal(verdictOf(RATE, around(100), []).verdict, 'missing');
  assert.equal(verdictOf(RATE, [], around(100)).verdict, 'new');
  assert.equal(verdictOf(COUNT, [5], []).verdict, 'missing');
});

test('counts are compared exactly: one more is worse, one less is better, within the slack they are equal', () => {
  assert.equal(verdictOf(COUNT, [4096], [4097]).verdict, 'regressed');
  assert.equal(verdictOf(COUNT, [4096], [4095]).verdict, 'improved');
  assert.equal(verdictOf(COUNT, [4096, 4096], [4096, 4096]).verdict, 'unchanged');
  assert.equal(verdictOf(COUNT, [4096, 4096], [4096, 4097]).verdict, 'regressed');
  assert.equal(verdictOf(COUNT, [4096], [4097], { seed: 1 }, 1).verdict, 'unchanged');
  assert.equal(verdictOf(COUNT, [0], [1]).shift, 1);
});

test('swapping the sides turns regressed into improved and negates the direction of every shift', () => {
  const runs = fc.array(fc.integer({ min: 50, max: 150 }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(runs, runs, (base, candidate) => {
      const there = verdictOf({ ...TIME, noise: 0 }, base, candidate, QUICK);
      const back = verdictOf({ ...TIME, noise: 0 }, candidate, base, QUICK);
      assert.equal(Math.sign(there.shift ?? 0), -Math.sign(back.shift ?? 0) + 0);
      assert.equal(there.p?.toFixed(12), back.p?.toFixed(12));
      assert.ok(!(there.verdict === 'regressed' && back.verdict === 'regressed'));
    }),
    { numRuns: 50 },
  );
});

test('verdicts do not depend on the unit, on the order of runs or on the order of metrics', () => {
  const random = seededRandom(3);
  const base = drawn(random, 8, 100, 0.02);
  const candidate = drawn(random, 8, 96, 0.02);
  const one = verdictOf(TIME, base, candidate);
  const scaled = verdictOf(
    TIME,
    base.map((value) => value * 1024),
    candidate.map((value) => value * 1024),
  );
  assert.equal(scaled.verdict, one.verdict);
  assert.equal(scaled.shift?.toFixed(9), one.shift?.toFixed(9));
  assert.equal(scaled.interval?.low.toFixed(9), one.interval?.low.toFixed(9));
  const turned = verdictOf(TIME, [...base].reverse(), [...candidate].reverse());
  assert.deepEqual([turned.shift, turned.interval, turned.floor, turned.p], [one.shift, one.interval, one.floor, one.p]);
  const two: MetricSamples[] = [
    { key: TIME, base, candidate, slack: 0 },
    { key: RATE, base, candidate, slack: 0 },
  ];
  assert.deepEqual(judgeMetrics([...two].reverse(), { seed: 1 }).reverse(), judgeMetrics(two, { seed: 1 }));
});

test('a base of zeros and equal values everywhere are judged without dividing by zero', () => {
  assert.equal(verdictOf(TIME, new Array(8).fill(0), new Array(8).fill(0)).verdict, 'unchanged');
  assert.equal(verdictOf(TIME, new Array(8).fill(0), new Array(8).fill(1)).verdict, 'regressed');
});
