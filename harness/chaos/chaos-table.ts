// The lines a person sees while a chaos session runs, and the table at its end. Pure.
import { textTable } from '../ladder/text-table.js';
import type { ChaosReport } from './chaos-report.js';
import { INVARIANTS, type RowResult } from './chaos-row.js';
import type { StormResult } from './storm.js';

const FAULT_WIDTH = 46;
const REASON_WIDTH = 200;

type Shown = Pick<RowResult, 'result' | 'fault' | 'reason' | 'detect_ms' | 'recover_ms' | 'invariants'> & { readonly row: number | string };

export function renderHeadings(): string[] {
  return [
    `${'row'.padStart(7)}  ${'fault'.padEnd(FAULT_WIDTH)}  ${'result'.padEnd(7)}  ${'noticed'.padStart(9)}  ${'recovered'.padStart(9)}  12345678  why`,
  ];
}

const time = (ms: number | null): string => (ms === null ? '-' : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`);

/** One digit per invariant: its number, "." where nothing was to judge, "X" where it broke. */
function marks(invariants: RowResult['invariants']): string {
  return INVARIANTS.map((name) => (invariants[name] === null ? '.' : invariants[name] ? name.slice(1) : 'X')).join('');
}

export function renderResult({ row, fault, result, detect_ms, recover_ms, invariants, reason }: Shown): string {
  const cut = fault.length > FAULT_WIDTH ? `${fault.slice(0, FAULT_WIDTH - 1)}…` : fault;
  const why = reason.length > REASON_WIDTH ? `${reason.slice(0, REASON_WIDTH)}…` : reason;
  return `${String(row).padStart(7)}  ${cut.padEnd(FAULT_WIDTH)}  ${result.padEnd(7)}  ${time(detect_ms).padStart(9)}  ${time(recover_ms).padStart(9)}  ${marks(invariants)}  ${why}`.trimEnd();
}

export function renderStormLine(storm: StormResult): string {
  return `storm ${storm.result}: ${storm.text}${storm.reason === '' ? '' : `\n    ${storm.reason}`}`;
}

export function renderSummary({ rows, summary }: ChaosReport): string[] {
  const failed = rows.filter(({ result }) => result === 'FAIL');
  const quantiles = (name: string, { p50, p99, n }: ChaosReport['summary']['detect_ms']): string[] => [
    name,
    time(p50),
    time(p99),
    String(n),
  ];
  return [
    '',
    textTable(
      ['', 'p50', 'p99', 'of'],
      [quantiles('noticed after', summary.detect_ms), quantiles('recovered after', summary.recover_ms)],
      ['left', 'right', 'right', 'right'],
    ),
    '',
    `${summary.pass} passed, ${summary.fail} failed, ${summary.skipped} skipped in ${summary.seconds} s${summary.interrupted ? ', interrupted' : ''}`,
    ...failed.map((row) => `  ${row.row} ${row.fault}: ${row.reason}`),
  ];
}
