// The pre-flight as `envladder doctor` prints it: one line a check, advice under what failed. Pure.
import type { PreflightRow } from './preflight.js';

/** Every row, then one sentence. */
export function describePreflight(rows: readonly PreflightRow[], notes: readonly string[] = []): string {
  const width = Math.max(...rows.map((row) => row.check.length));
  const lines = rows.flatMap((row) => {
    const line = `${row.ok ? 'ok  ' : 'FAIL'}  ${row.check.padEnd(width)}  found ${row.found}; needed ${row.needed}`;
    return row.ok ? [line] : [line, `      ${' '.repeat(width)}  -> ${row.advice}`];
  });
  const failed = rows.filter((row) => !row.ok).length;
  const end =
    failed === 0 ? 'This machine can run the plan.' : `This machine cannot run the plan: ${failed} check${failed === 1 ? '' : 's'} failed.`;
  return [...lines, ...notes, '', end].join('\n');
}
