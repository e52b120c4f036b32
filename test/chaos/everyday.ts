// How tests run rows of the matrix: generous limits, short windows. Rates are measured by `npm run chaos` on a quiet machine; a test suite
// that shares its cores says nothing about them, so here I6 is not judged.
import assert from 'node:assert/strict';
import type { RowResult } from '../../harness/chaos/chaos-row.js';

export const EVERYDAY = { seed: 1, patience: 4, windowSeconds: 0.5, say: () => undefined };

export function assertHeld(result: Pick<RowResult, 'result' | 'reason' | 'invariants'>): void {
  const others = result.reason.split('; ').filter((reason) => reason !== '' && !reason.startsWith('I6:'));
  assert.deepEqual(others, []);
  assert.notEqual(result.result, 'SKIPPED');
  for (const [name, held] of Object.entries(result.invariants))
    if (name !== 'I6') assert.notEqual(held, false, `${name}: ${result.reason}`);
}
