import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadMonitor } from '../../harness/bench/cpu-load.js';
import { rowFrom, takeWindows } from '../../harness/bench/windows.js';

/** A machine whose foreign load per window is given. */
function scriptedLoad(cores: readonly number[]): LoadMonitor {
  let next = 0;
  return { start() {}, foreignCores: () => cores[next++] ?? 0 };
}

const silent = (): void => {};

test('a disturbed window is taken again and left out', async () => {
  // Goal: a figure taken while a neighbour used a core does not reach the table.
  const load = scriptedLoad([0.1, 0.9, 0.2, 0.0]);
  const windows = await takeWindows({ load, say: silent, patienceMs: 0 }, { windows: 3, label: 'x' }, (attempt) => attempt);
  assert.deepEqual(windows.map((window) => window.sample).sort(), [0, 2, 3]);
  const row = rowFrom('noop_7000_sps', windows, (sample) => sample);
  assert.equal(row.foreignCores, 0.2);
  assert.equal(row.note, '');
});

test('a machine that never gets quiet ends the attempts and is named in the row', async () => {
  // Goal: the runner is bounded, keeps the least disturbed windows and says that they are disturbed.
  const load = scriptedLoad([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]);
  let attempts = 0;
  const windows = await takeWindows({ load, say: silent, patienceMs: 0 }, { windows: 2, label: 'x' }, () => attempts++);
  assert.equal(attempts, 6);
  assert.deepEqual(
    windows.map((window) => window.sample),
    [5, 4],
  );
  assert.equal(rowFrom('noop_7000_sps', windows, (sample) => sample, 'a note').note, 'a note; 2 of 2 windows disturbed');
});

test('waiting for a quiet machine ends with the patience', { timeout: 20_000 }, async () => {
  // Goal: a busy machine delays a row by a bound, never for ever; a quiet one does not delay it.
  const busy: LoadMonitor = { start() {}, foreignCores: () => 2 };
  const lines: string[] = [];
  const windows = await takeWindows({ load: busy, say: (line) => lines.push(line), patienceMs: 300 }, { windows: 1, label: 'x' }, () => 1);
  assert.equal(windows.length, 1);
  assert.equal(lines.length, 3);
  // One look finds it quiet, the window itself is quiet too: two readings, one attempt.
  let readings = 0;
  const quiet: LoadMonitor = {
    start() {},
    foreignCores() {
      readings++;
      return 0;
    },
  };
  await takeWindows({ load: quiet, say: silent, patienceMs: 10_000 }, { windows: 1, label: 'x' }, () => 1);
  assert.equal(readings, 2);
});
