// Comparison of measured numbers, with both in the message. (A bare assert.ok that fails under tsx parses the whole transformed source
// to build its message, which can take minutes.)
import assert from 'node:assert/strict';

export function near(found: number | undefined, expected: number, tolerance: number, what = 'value'): void {
  const close = found !== undefined && Math.abs(found - expected) <= tolerance;
  assert.ok(close, `${what}: found ${found}, expected ${expected} within ${tolerance}`);
}

/** Element by element; both must have the same length. */
export function nearAll(found: ArrayLike<number> | undefined, expected: ArrayLike<number>, tolerance: number, what: string): void {
  assert.equal(found?.length, expected.length, `${what}: length`);
  for (let i = 0; i < expected.length; i++) near(found?.[i], expected[i] as number, tolerance, `${what}[${i}]`);
}
