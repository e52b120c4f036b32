// Goal: the ways to hand a frame over do what they say between two real threads: locks and leases never tear, a checked sequence never lets a
// torn frame through, and a flip does tear once the reader keeps its view while the writer goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SlotRun, type SlotRunOptions, startSlotPair } from '../../harness/claims/rigs/slot-run.js';
import { createSlotMemory, isWhole, openSlots, SCHEMES } from '../../harness/claims/rigs/slot-schemes.js';
import { flipSafe } from '../../harness/claims/rows/flip-safe.js';
import { lockVsFlip } from '../../harness/claims/rows/lock-vs-flip.js';
import { runRow } from './run-row.js';

const WATCHDOG = { timeout: 180_000 };

async function runSlots(options: SlotRunOptions): Promise<SlotRun> {
  const pair = startSlotPair();
  try {
    return await pair.run(options);
  } finally {
    await pair.close();
  }
}

const BASE = { envs: 2, frameBytes: 64 * 1024, stepMs: 1, holdMs: 5, reads: 20, limitMs: 60_000 };

for (const scheme of SCHEMES.filter((each) => each !== 'flip'))
  test(`${scheme}: no torn frame is accepted while a view is kept for several steps`, WATCHDOG, async () => {
    const run = await runSlots({ ...BASE, scheme });
    assert.equal(run.reads, 20);
    assert.equal(run.torn, 0);
  });

test('a flip tears when the view is kept for several steps', WATCHDOG, async () => {
  // Enough holds that a starved writer laps the reader in one of them, whatever else the machine does.
  const run = await runSlots({ ...BASE, scheme: 'flip', reads: 400 });
  assert.equal(run.reads, 400);
  assert.ok(run.torn > 0, 'the writer lapped the reader and nothing was torn');
});

test('a lease hands every frame over exactly once and in order', WATCHDOG, async () => {
  const run = await runSlots({ ...BASE, scheme: 'lease', holdMs: 0 });
  assert.equal(run.fresh, run.reads);
  assert.ok(run.written >= run.reads);
});

test('a read returns the number of the frame whose words it copied, whatever the way', () => {
  for (const scheme of SCHEMES) {
    const slots = openSlots(createSlotMemory(2, 64), scheme);
    const frame = new Int32Array(16);
    for (const number of [1, 2, 3]) {
      assert.ok(slots.write(1, number));
      assert.equal(
        slots.read(1, frame, () => undefined),
        number,
        scheme,
      );
      assert.ok(isWhole(frame) && frame[5] === number, scheme);
    }
    frame[3] = 9;
    assert.ok(!isWhole(frame));
  }
});

test('a lease is refused to a writer until the reader has released the frame', () => {
  const slots = openSlots(createSlotMemory(1, 64), 'lease');
  assert.ok(slots.write(0, 1));
  assert.ok(!slots.write(0, 2));
  slots.read(0, new Int32Array(16), () => undefined);
  assert.ok(slots.write(0, 2));
});

test('the claim about the flip measures torn reads in every condition', WATCHDOG, async () => {
  const { values } = await runRow(flipSafe);
  for (const side of ['sequence', 'lease'])
    for (const id of ['torn-hot', 'torn-hold-0', 'torn-hold-1', 'torn-hold-3', 'torn-hold-100'])
      assert.deepEqual(values(id, side), [0, 0], `${side} ${id}`);
  assert.ok(values('written-hold-3', 'flip').every((rate) => rate > 0));
});

test('the claim about locks reads with every scheme, and only the flip may tear', WATCHDOG, async () => {
  const { values } = await runRow(lockVsFlip);
  for (const side of SCHEMES) {
    for (const id of ['read-small', 'read-large']) assert.ok(values(id, side).every((rate) => rate > 0));
    if (side !== 'flip') assert.deepEqual(values('torn-large', side), [0, 0], side);
  }
});
