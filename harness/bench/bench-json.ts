// The machine-readable result: exactly {machine, results: [{name, unit, value, low, high, runs, bar, meets}]}. A row that could not be
// measured here keeps its place with nulls, so that "missing" and "not built" stay apart.
import type { MachineFacts } from '../contract/run-record.js';
import { meetsBar, ROWS } from './bars.js';
import type { Row } from './bench.js';

export interface BenchResult {
  readonly name: string;
  readonly unit: string;
  /** Median; null when not measured. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Windows (or seeds, or processes) behind the value. */
  readonly runs: number;
  /** Null: nothing is promised. */
  readonly bar: number | null;
  readonly meets: boolean | null;
}

export interface BenchReport {
  readonly machine: MachineFacts;
  readonly results: readonly BenchResult[];
}

/** The report of finished rows. */
export function toReport(machine: MachineFacts, rows: readonly Row[]): BenchReport {
  return {
    machine,
    results: rows.map(({ name, estimate }) => ({
      name,
      unit: ROWS[name].unit,
      value: estimate?.value ?? null,
      low: estimate?.low ?? null,
      high: estimate?.high ?? null,
      runs: estimate?.runs ?? 0,
      bar: ROWS[name].bar,
      meets: meetsBar(name, estimate?.value ?? null),
    })),
  };
}
