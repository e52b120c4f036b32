import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_ROWS } from '../../harness/chaos/all-rows.js';
import { choosePairs, runPair } from '../../harness/chaos/pairs.js';
import { runRow } from '../../harness/chaos/run-matrix.js';
import { assertHeld, EVERYDAY } from './everyday.js';

describe('rows of the fault matrix, a few of them every day', { timeout: 300_000, concurrency: 1 }, () => {
  for (const [number, goal] of [
    [1, 'a killed worker is replaced and every invariant holds'],
    [7, 'an env that throws for ever ends in quarantine, told once and counted exactly'],
    [22, 'a second supervisor is refused and the first goes on'],
  ] as const) {
    it(`row ${number} passes`, async () => {
      // Goal: see the list above.
      const row = ALL_ROWS.find((one) => one.row === number);
      assert.ok(row !== undefined, goal);
      assertHeld(await runRow(row, EVERYDAY));
    });
  }

  it('two faults at once pass too', async () => {
    // Goal: a pair from a recorded seed keeps every invariant.
    const [pair] = choosePairs(ALL_ROWS, 1, 5);
    assert.ok(pair !== undefined);
    assertHeld(await runPair(pair, EVERYDAY));
  });
});
