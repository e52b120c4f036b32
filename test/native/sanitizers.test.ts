// The native unit and stress cases, plain and under ThreadSanitizer, AddressSanitizer and UndefinedBehaviorSanitizer.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ProgramResult, program, runProgram } from './native-program.js';
import { CLEAN_CASES, tornArguments } from './torn-frame-cases.js';

const WATCHDOG_MS = 240_000;
/** What a sanitizer says when the kernel's address randomisation defeats it; without randomisation it runs. */
const MAPPING = /unexpected memory mapping|Shadow memory range interleaves/;

function sanitized(t: TestContext, name: string, args: readonly string[]): ProgramResult | undefined {
  const found = program(name);
  if ('missing' in found) {
    t.skip(`SKIPPED(${found.missing})`);
    return undefined;
  }
  const result = runProgram(found.path, args, WATCHDOG_MS);
  if (!MAPPING.test(result.stderr)) return result;
  const still = runProgram('setarch', ['-R', found.path, ...args], WATCHDOG_MS);
  if (still.status !== null && !MAPPING.test(still.stderr)) return still;
  t.skip(`SKIPPED(${name} cannot map its shadow memory on this kernel)`);
  return undefined;
}

for (const [variant, what] of [
  ['plain', 'no sanitizer'],
  ['tsan', 'ThreadSanitizer'],
  ['asan', 'AddressSanitizer and UndefinedBehaviorSanitizer'],
] as const) {
  test(`native unit and stress cases pass under ${what}`, { timeout: WATCHDOG_MS + 60_000 }, (t) => {
    // Goal: all cases pass and the sanitizer has nothing to say.
    const result = sanitized(t, `unit.${variant}`, []);
    if (!result) return;
    assert.equal(result.status, 0, result.stderr);
    assert.equal(result.said.passed, 14);
    assert.doesNotMatch(result.stderr, /WARNING: |ERROR: |runtime error/);
  });
}

for (const [variant, how, what] of [
  ['plain', 'threads', 'no sanitizer'],
  ['plain', 'processes', 'no sanitizer'],
  ['tsan', 'threads', 'ThreadSanitizer'],
  ['asan', 'threads', 'AddressSanitizer and UndefinedBehaviorSanitizer'],
  ['asan', 'processes', 'AddressSanitizer and UndefinedBehaviorSanitizer'],
] as const) {
  test(`slots survive failing envs and haunted memory with workers as ${how} under ${what}`, { timeout: WATCHDOG_MS + 60_000 }, (t) => {
    // Goal: park, unpark, quarantine, release and takeovers at full speed: every frame whole, in order and once, nothing of a zombie seen.
    const result = sanitized(t, `lives.${variant}`, [how]);
    if (!result) return;
    assert.equal(result.status, 0, result.stderr);
    assert.equal(result.said.passed, 4);
    assert.doesNotMatch(result.stderr, /WARNING: |ERROR: |runtime error/);
  });
}

test('two processes stay clean under AddressSanitizer', { timeout: WATCHDOG_MS + 60_000 }, (t) => {
  // Goal: no access outside a cell, a line or a batch, with and without lease, inline and separate records.
  for (const tornCase of CLEAN_CASES.filter((c) => c.cellBytes <= 4096 && c.pace !== 'slow')) {
    const result = sanitized(t, 'torn-frames.asan', tornArguments(tornCase, 50_000, 7, 60));
    if (!result) return;
    assert.equal(result.status, 0, result.stderr);
  }
});
