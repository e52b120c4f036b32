// Goal: both sides get their turns, mixed so that neither is favoured, and the order can be had again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interleave } from '../../harness/ladder/interleave.js';

test('each side runs every number once, and no side is ever more than one run ahead', () => {
  for (let seed = 0; seed < 50; seed++) {
    const turns = interleave(9, seed);
    let ahead = 0;
    for (const { side } of turns) {
      ahead += side === 'base' ? 1 : -1;
      assert.ok(Math.abs(ahead) <= 1);
    }
    for (const side of ['base', 'candidate'] as const) {
      assert.deepEqual(
        turns.filter((turn) => turn.side === side).map((turn) => turn.number),
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
      );
    }
  }
});

test('a seed gives one order, seeds give different ones, and who goes first is tossed', () => {
  assert.deepEqual(interleave(8, 7), interleave(8, 7));
  const orders = new Set(
    Array.from({ length: 20 }, (_, seed) =>
      interleave(8, seed)
        .map(({ side }) => side[0])
        .join(''),
    ),
  );
  assert.ok(orders.size > 15, String(orders.size));
  const baseFirst = Array.from({ length: 1000 }, (_, seed) => interleave(1, seed)[0]?.side === 'base').filter(Boolean).length;
  assert.ok(baseFirst > 400 && baseFirst < 600, String(baseFirst));
});
