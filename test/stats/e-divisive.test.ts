// Goal: a change of level is found where it is, and noise alone yields none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eDivisive, MAX_SERIES } from '../../reports/stats/e-divisive.js';
import { type Random, seededRandom } from '../../reports/stats/seeded-random.js';

/** Nearly normal noise with deviation 1. */
function noise(random: Random): number {
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += random();
  return sum - 6;
}

function series(seed: number, levels: readonly (readonly [runs: number, level: number])[]): number[] {
  const random = seededRandom(seed);
  return levels.flatMap(([runs, level]) => Array.from({ length: runs }, () => level + noise(random)));
}

test('one step is found at its first run', () => {
  const values = [50, 51, 50, 49, 50, 51, 49, 50, 40, 41, 40, 39, 40, 41, 40];
  assert.deepEqual(
    eDivisive(values, { seed: 1 }).map((point) => point.index),
    [8],
  );
});

test('several steps, up and down, are found within a run of where they are', () => {
  const points = eDivisive(
    series(3, [
      [20, 100],
      [15, 90],
      [25, 106],
    ]),
    { seed: 1 },
  );
  assert.equal(points.length, 2, JSON.stringify(points));
  assert.ok(Math.abs((points[0]?.index ?? 0) - 20) <= 1 && Math.abs((points[1]?.index ?? 0) - 35) <= 1, JSON.stringify(points));
});

test('steps are found in any unit and upside down', () => {
  const values = series(4, [
    [14, 10],
    [14, 15],
  ]);
  const at = (scaled: number[]) => eDivisive(scaled, { seed: 1 }).map((point) => point.index);
  assert.deepEqual(at(values), [14]);
  assert.deepEqual(at(values.map((value) => value * 1e6)), [14]);
  assert.deepEqual(at(values.map((value) => -value)), [14]);
});

test('noise alone, equal values and short series have no change points', () => {
  const alarms = Array.from({ length: 60 }, (_, seed) => eDivisive(series(seed, [[24, 100]]), { seed })).filter(
    (found) => found.length > 0,
  );
  assert.ok(alarms.length <= 3, `${alarms.length} of 60 series of noise were said to change`);
  assert.deepEqual(eDivisive(new Array(30).fill(7), { seed: 1 }), []);
  assert.deepEqual(eDivisive([1, 1, 1, 9, 9, 9], { seed: 1 }), []);
  assert.deepEqual(eDivisive([], { seed: 1 }), []);
});

test('a series beyond its bound is refused', () => {
  assert.throws(() => eDivisive(new Array(MAX_SERIES + 1).fill(1), { seed: 1 }), /at most 300/);
});
