import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_BENCHES } from '../../harness/bench/all-benches.js';
import { ROWS, type RowName } from '../../harness/bench/bars.js';
import { createBlockRig } from '../../harness/bench/block-rig.js';
import { floatOutput } from '../../harness/bench/outputs.js';
import { parseIoCalls } from '../../harness/bench/process-counts.js';
import { countsBench } from '../../harness/bench/suites/counts-bench.js';

test('every row has exactly one bench', () => {
  // Goal: a name in the table, the docs or a gate is never one that nothing measures.
  const measured = ALL_BENCHES.flatMap(({ rows }) => rows);
  assert.deepEqual([...measured].sort(), Object.keys(ROWS).sort());
});

test('the counts of a step are what the design says, on a busy machine too', { timeout: 180_000 }, async () => {
  // Goal: a second copy, an allocation, a call or a message per step is seen as a missed bar, not as noise.
  const rows = await countsBench.run({
    quick: true,
    load: { start: () => undefined, foreignCores: () => 2 },
    patienceMs: 0,
    say: () => undefined,
  });
  const values = Object.fromEntries(rows.map(({ name, estimate }) => [name, estimate?.value ?? null]));
  const expected: Partial<Record<RowName, number>> = {
    copied_bytes_per_step: 64 * 4,
    heap_bytes_per_step: 0,
    io_calls_per_million_steps: 0,
    messages_per_million_steps: 0,
  };
  assert.deepEqual(values, expected);
});

test('a copy more would be counted', async () => {
  // Goal: the byte count follows what is gathered and is no constant of the bench.
  const twice = [...floatOutput('vector'), { ...floatOutput('vector')[0], name: 'again' }] as Parameters<typeof createBlockRig>[2];
  const rig = await createBlockRig(10, { kind: 'noop' }, twice);
  try {
    rig.advanceTo('act');
    assert.equal(rig.reader.stats.bytesCopied, 10 * 2 * 256);
  } finally {
    rig.close();
  }
});

test('read and write calls are read from the kernel’s text, or absent', () => {
  // Goal: a kernel without these counters gives a skipped row, not a zero.
  assert.equal(parseIoCalls('rchar: 5\nwchar: 6\nsyscr: 12\nsyscw: 3\nread_bytes: 0\n'), 15);
  assert.equal(parseIoCalls(''), null);
});
