// What a chaos session leaves: chaos.json for programs, chaos.md for people. The Markdown is a pure rendering of the JSON.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineFacts } from '../contract/run-record.js';
import { makeFolder } from '../ladder/make-folder.js';
import { INVARIANT_TEXT, INVARIANTS, type RowResult } from './chaos-row.js';
import type { PairResult } from './pairs.js';
import { quantile } from './quantile.js';
import type { StormResult } from './storm.js';

export interface ChaosSummary {
  readonly pass: number;
  readonly fail: number;
  readonly skipped: number;
  readonly detect_ms: { readonly p50: number | null; readonly p99: number | null; readonly n: number };
  readonly recover_ms: { readonly p50: number | null; readonly p99: number | null; readonly n: number };
  readonly seconds: number;
  /** Ended by Ctrl-C: rows may be missing. */
  readonly interrupted: boolean;
}

export interface ChaosReport {
  readonly schema_version: '1.0.0';
  readonly rows: readonly RowResult[];
  readonly pairs: readonly PairResult[];
  readonly storm: StormResult | null;
  readonly seed: number;
  /** What limits and watchdogs were multiplied by. */
  readonly patience: number;
  readonly machine: MachineFacts & { readonly load_average_at_start: number };
  readonly started_at: string;
  readonly summary: ChaosSummary;
}

type Timed = Pick<RowResult, 'result' | 'detect_ms' | 'recover_ms'>;

/** Pure: counts and quantiles over rows, pairs and the storm. */
export function summarise(results: readonly Timed[], seconds: number, interrupted: boolean): ChaosSummary {
  const count = (result: RowResult['result']): number => results.filter((row) => row.result === result).length;
  const times = (pick: (row: Timed) => number | null) => {
    const values = results.map(pick).filter((value) => value !== null);
    return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), n: values.length };
  };
  return {
    pass: count('PASS'),
    fail: count('FAIL'),
    skipped: count('SKIPPED'),
    detect_ms: times((row) => row.detect_ms),
    recover_ms: times((row) => row.recover_ms),
    seconds: Number(seconds.toFixed(1)),
    interrupted,
  };
}

const ms = (value: number | null): string => (value === null ? '–' : value.toFixed(value < 100 ? 1 : 0));
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Pure. */
export function renderChaosMarkdown(report: ChaosReport): string {
  const { summary, machine, rows, pairs, storm } = report;
  const lines = [
    '# Chaos report',
    '',
    `${summary.pass} passed, ${summary.fail} failed, ${summary.skipped} skipped in ${summary.seconds} s; seed ${report.seed}, patience ${report.patience}${summary.interrupted ? '; interrupted' : ''}.`,
    `Machine: ${machine.cores} x ${machine.cpu_model}, kernel ${machine.kernel}, node ${machine.node}, load ${machine.load_average_at_start.toFixed(2)} at the start.`,
    '',
    '| | p50 ms | p99 ms | of |',
    '|---|---|---|---|',
    `| noticed after | ${ms(summary.detect_ms.p50)} | ${ms(summary.detect_ms.p99)} | ${summary.detect_ms.n} |`,
    `| recovered after | ${ms(summary.recover_ms.p50)} | ${ms(summary.recover_ms.p99)} | ${summary.recover_ms.n} |`,
    '',
    `| row | fault | result | noticed ms | recovered ms | limit ms | ${INVARIANTS.join(' | ')} | why |`,
    `|---|---|---|---|---|---|${INVARIANTS.map(() => '---|').join('')}---|`,
    ...rows.map(
      (row) =>
        `| ${row.row} | ${cell(row.fault)} | ${row.result} | ${ms(row.detect_ms)} | ${ms(row.recover_ms)} | ${row.recover_limit_ms ?? '–'} | ${INVARIANTS.map((name) => ({ true: '✓', false: '✗', null: '·' })[String(row.invariants[name]) as 'true']).join(' | ')} | ${cell(row.reason)} |`,
    ),
    '',
    ...INVARIANTS.map((name) => `- ${name}: ${INVARIANT_TEXT[name]}`),
    '',
    '✓ held, ✗ broke, · not judged by this row. What each means and how it is known: docs/chaos.md.',
  ];
  if (pairs.length > 0) {
    lines.push('', '## Pairs of faults', '', '| rows | apart ms | result | noticed ms | recovered ms | why |', '|---|---|---|---|---|---|');
    for (const pair of pairs) {
      lines.push(
        `| ${pair.rows.join(' + ')} | ${ms(pair.apart_ms)} | ${pair.result} | ${ms(pair.detect_ms)} | ${ms(pair.recover_ms)} | ${cell(pair.reason)} |`,
      );
    }
  }
  if (storm !== null) {
    lines.push('', '## Storm', '', `${storm.result}: ${storm.text}`, '', '| fault | times |', '|---|---|');
    for (const [fault, times] of Object.entries(storm.faults)) lines.push(`| ${fault} | ${times} |`);
    if (storm.reason !== '') lines.push('', storm.reason);
  }
  const evident = rows.filter((row) => row.result !== 'SKIPPED');
  if (evident.length > 0) lines.push('', '## Evidence', '');
  for (const row of evident) {
    // A row's seed is the session's plus its number (run-matrix.ts): this is what repeats it.
    const again = `npm run chaos -- --only ${row.row} --seed ${row.seed - row.row}`;
    lines.push(`### ${row.row}: ${row.fault}`, '', `${row.seconds} s, ${row.started_at}; again: \`${again}\``, '');
    for (const name of INVARIANTS) if (row.evidence[name] !== undefined) lines.push(`- ${name}: ${row.evidence[name]}`);
    for (const note of row.notes) lines.push(`- ${note}`);
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Writes both files; creates the folder. */
export function writeChaosReport(dir: string, report: ChaosReport): void {
  makeFolder(dir);
  writeFileSync(join(dir, 'chaos.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(dir, 'chaos.md'), renderChaosMarkdown(report));
}
