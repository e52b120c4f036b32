// Goal: the batch claim moves the same bytes on all sides, times all of them, and says how many bytes the gather copied.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch12ms } from '../../harness/claims/rows/batch-1-2ms.js';
import { runRow } from './run-row.js';

test('all sides bring the same frames into a batch, and the gather says what it copied', { timeout: 120_000 }, async () => {
  const { values } = await runRow(batch12ms);
  for (const side of ['stack-js', 'gather', 'gather-all-cores', 'memcpy'])
    for (const metric of ['ms-f32', 'ms-u8']) assert.ok(values(metric, side).every((ms) => ms > 0));
  // 4 frames of 602,112 bytes.
  assert.deepEqual(values('mb-copied-f32', 'gather'), [2.408448, 2.408448]);
});
