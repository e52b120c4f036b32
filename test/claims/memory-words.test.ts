// Goal: the claims about memory, alignment, JSON and round trips do the same work on all sides and count what is there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFrameWays } from '../../harness/claims/rigs/frame-ways.js';
import { align64 } from '../../harness/claims/rows/align-64.js';
import { json3ms } from '../../harness/claims/rows/json-3ms.js';
import { mem18gb } from '../../harness/claims/rows/mem-18gb.js';
import { rtt01ms } from '../../harness/claims/rows/rtt-0-1ms.js';
import { loadNative } from '../../native/index.js';
import { runRow } from './run-row.js';

const WATCHDOG = { timeout: 180_000 };

test('the shapes of the account are 8.44 GB as float32 and 2.12 GB with pixels as bytes', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(mem18gb);
  if (entry.state === 'not-testable') return t.skip(entry.reason);
  const near = (found: readonly number[], wanted: number, tolerance: number) =>
    found.forEach((value) => {
      assert.ok(Math.abs(value - wanted) < tolerance, `${value}`);
    });
  near(values('planned-gb', 'float32'), 8.44, 0.02);
  near(values('planned-gb', 'uint8'), 2.12, 0.02);
  // Four envs scaled up: headers and page edges weigh more.
  near(values('resident-gb', 'float32'), 8.44, 0.5);
  near(values('resident-gb', 'uint8'), 2.12, 0.3);
});

test('a word within a line never tears', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(align64);
  if (entry.state === 'not-testable') return t.skip(entry.reason);
  for (const side of ['packed', 'aligned-64']) assert.deepEqual(values('torn', side), [0, 0], side);
  for (const side of ['packed', 'aligned-64', 'across-lines']) assert.ok(values('adds', side).every((rate) => rate > 0));
  assert.ok(
    values('changes', 'packed').some((share) => share > 0),
    'the reader never saw the word change',
  );
});

test('the reader of a word sees it change, and torn where it lies across two lines', WATCHDOG, (t) => {
  if (availableParallelism() < 2) return t.skip('one core');
  const native = loadNative();
  const end = performance.now() + 60_000;
  // On a busy machine the two threads may never run at the same moment of a short duel.
  let seen = { changes: 0, torn: 0 };
  while (performance.now() < end && (seen.changes === 0 || (process.arch === 'x64' && seen.torn === 0))) {
    const { changes, torn } = native.duelOverWord(60, 0, 4, 200);
    seen = { changes: seen.changes + changes, torn: seen.torn + torn };
  }
  assert.ok(seen.changes > 0);
  if (process.arch === 'x64') assert.ok(seen.torn > 0);
});

test('all ways hand over the same image', WATCHDOG, async () => {
  const { values } = await runRow(json3ms);
  for (const side of ['json', 'shared-memory', 'socket-bytes']) assert.ok(values('hand-ms', side).every((ms) => ms > 0));
  assert.ok(values('serialise-ms', 'json').every((ms, i) => ms > 0 && ms < (values('hand-ms', 'json')[i] ?? 0)));
});

test('a way whose frame was changed on the road fails', WATCHDOG, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-ways-'));
  const frame = new Uint8Array(1000).fill(3);
  const ways = await openFrameWays(dir, frame);
  try {
    await ways.socket(2);
    await ways.shared(2);
    frame[5] = 4;
    await assert.rejects(ways.json(1), /sum 3001, 3000 was sent/);
  } finally {
    await ways.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('every way of a round trip answers every byte', WATCHDOG, async () => {
  const { values } = await runRow(rtt01ms);
  for (const side of ['tcp', 'unix', 'pipe', 'futex', 'spin', 'tcp-event-loop']) {
    const [medians, tails] = [values('p50-us', side), values('p99-us', side)];
    assert.equal(medians.length, 2, side);
    assert.ok(
      medians.every((us, i) => us > 0 && us <= (tails[i] ?? 0)),
      side,
    );
  }
});
