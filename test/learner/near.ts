// Comparison of measured numbers, with both in the message. (A bare assert.ok that fails under tsx parses the whole transformed source
// to build its message, which can take minutes.)
import assert from 'node:assert/strict';

export function near(found: number | undefined, expected: number, tolerance: number, what = 'value'): void {
  const close = found !== undefined && Math.abs(found - expected) <= tolerance;
  assert.ok(close, `${what}: found ${found}, expected ${expected} within ${tolerance}`);
}
