// Torn reads: a writer process, a reader process and SIGSTOP/SIGCONT at random moments, 10^6 frames over all cell sizes. `npm run
// stress` does the same with 10^8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program, runProgram } from './native-program.js';
import { CLEAN_CASES, MUTANTS, tornArguments } from './torn-frame-cases.js';

const FRAMES = 1_000_000;
const SECONDS_MAX = 60;

function run(tornCase: (typeof CLEAN_CASES)[number], frames: number) {
  const torn = program('torn-frames.plain');
  assert.ok('path' in torn);
  return runProgram(torn.path, tornArguments(tornCase, frames, 20_261, SECONDS_MAX), 2 * SECONDS_MAX * 1000);
}

test('a million frames of every size arrive whole, in order and once', { timeout: 600_000 }, async (t) => {
  // Goal: zero torn, backwards or duplicate reads, with lease and without, whatever pace, and with pauses that really happened.
  let frames = 0;
  let pauses = 0;
  for (const tornCase of CLEAN_CASES) {
    const { mode, cellBytes, cells, pace } = tornCase;
    await t.test(`${mode}, ${cellBytes} B, ${cells} cells, ${pace} writer`, () => {
      const { status, said, stderr } = run(tornCase, FRAMES);
      const { torn, backwards, duplicates } = said;
      assert.deepEqual({ status, torn, backwards, duplicates }, { status: 0, torn: 0, backwards: 0, duplicates: 0 }, stderr);
      frames += said.frames ?? 0;
      pauses += said.pauses ?? 0;
    });
  }
  assert.ok(frames >= FRAMES, `${frames} frames`);
  // In total only: a case of few frames may be over before the first pause.
  assert.ok(pauses > 0, 'no process was ever stopped and continued');
});

for (const mutant of MUTANTS) {
  test(`the harness reports tears for ${mutant.what}`, { timeout: 200_000 }, () => {
    // Goal: the instrument is not blind: a design that tears is caught.
    const { status, said } = run(mutant, FRAMES);
    assert.equal(status, 3, JSON.stringify(said));
    assert.ok((said.torn ?? 0) > 0);
  });
}
