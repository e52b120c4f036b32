// A worker of an old epoch that wakes up after it was replaced.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program, runProgram } from './native-program.js';

test('a writer stopped mid-frame, fenced, replaced and continued cannot publish', { timeout: 60_000 }, () => {
  // Goal: its CAS fails and it exits as fenced; the new epoch's frames stay whole, in order, and start with abandoned.
  const zombie = program('zombie.plain');
  assert.ok('path' in zombie);
  const { status, signal, said, stderr } = runProgram(zombie.path, [], 50_000);
  assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
  assert.deepEqual(said, { old: 3200, new: 3200, abandoned: 16, oldExit: 71 });
});
