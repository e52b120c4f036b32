// One chaos session from its options to its report: the chosen rows, then pairs, then the storm. Prints nothing by itself; whoever calls it
// is told of every result.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMachineFacts } from '../bench/machine-facts.js';
import { EnvladderError } from '../contract/errors.js';
import type { Interrupts } from '../ladder/interrupts.js';
import { ALL_ROWS } from './all-rows.js';
import { type ChaosReport, summarise } from './chaos-report.js';
import type { ChaosRow, RowResult } from './chaos-row.js';
import { choosePairs, type PairResult, runPair } from './pairs.js';
import { runMatrix } from './run-matrix.js';
import { runStorm, type StormOptions, type StormResult } from './storm.js';

export interface ChaosOptions {
  /** Row numbers; null = all. Empty: no rows. */
  readonly only: readonly number[] | null;
  readonly pairs: number;
  readonly storm: StormOptions | null;
  /** Hours of the matrix again and again, with a pause between two rows. */
  readonly soak: { readonly hours: number; readonly everySeconds: number } | null;
  readonly seed: number;
  readonly patience: number;
  readonly windowSeconds: number;
  readonly full: boolean;
  readonly ownMachine: boolean;
  readonly interrupts: Interrupts;
  readonly say: (line: string) => void;
  readonly onResult: (result: RowResult) => void;
  readonly onPair: (result: PairResult) => void;
}

/** Rows by number. Throws `bad-usage` for one that is not there. */
export function chooseRows(only: readonly number[] | null, rows: readonly ChaosRow[] = ALL_ROWS): readonly ChaosRow[] {
  if (only === null) return rows;
  const unknown = only.filter((number) => !rows.some(({ row }) => row === number));
  if (unknown.length > 0) {
    throw new EnvladderError(
      'bad-usage',
      `--only ${unknown.join(',')}: no such row; rows are ${rows.map(({ row }) => row).join(', ')} (--list says what they do)`,
    );
  }
  return rows.filter(({ row }) => only.includes(row));
}

/** Runs it all. Rejects only for bad options; faults of rows end in the report. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { interrupts, seed, patience } = options;
  const rows = chooseRows(options.only);
  const startedAt = new Date();
  const beganMs = performance.now();
  const loadAtStart = loadavg()[0] ?? 0;
  const over = (): boolean => interrupts.count() > 0;
  const shared = { patience, windowSeconds: options.windowSeconds, full: options.full, ownMachine: options.ownMachine, say: options.say };
  const results = await runMatrix({ ...shared, rows, seed, onResult: options.onResult, over });
  const pairs: PairResult[] = [];
  for (const pair of choosePairs(ALL_ROWS, options.pairs, seed)) {
    if (over()) break;
    const result = await runPair(pair, shared);
    pairs.push(result);
    options.onPair(result);
  }
  let storm: StormResult | null = null;
  if (options.storm !== null && !over()) {
    const dir = mkdtempSync(join(tmpdir(), 'envladder-chaos-storm-'));
    try {
      storm = await runStorm({ ...shared, seed, dir }, options.storm, over);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  if (options.soak !== null) await soak(options, rows, results, over);
  const seconds = (performance.now() - beganMs) / 1000;
  const stormRow = storm === null ? [] : [{ result: storm.result, detect_ms: null, recover_ms: null }];
  return {
    schema_version: '1.0.0',
    rows: results,
    pairs,
    storm,
    seed,
    patience,
    machine: { ...readMachineFacts(), load_average_at_start: loadAtStart },
    started_at: startedAt.toISOString(),
    summary: summarise([...results, ...pairs, ...stormRow], seconds, over()),
  };
}

/** Longest list of results that a soak keeps: failures are all kept, passes make room for newer ones. */
const MAX_KEPT = 10_000;

async function soak(
  { soak: plan, interrupts, ...options }: ChaosOptions,
  rows: readonly ChaosRow[],
  results: RowResult[],
  over: () => boolean,
): Promise<void> {
  if (plan === null) return;
  const endMs = performance.now() + plan.hours * 3_600_000;
  for (let round = 1; performance.now() < endMs && !over(); round++) {
    const late = (): boolean => over() || performance.now() >= endMs;
    for (const row of rows) {
      if (late()) break;
      const found = await runMatrix({ ...options, rows: [row], seed: options.seed + round * 10_000, over: late });
      results.push(...found);
      if (results.length > MAX_KEPT)
        results.splice(
          results.findIndex(({ result }) => result !== 'FAIL'),
          1,
        );
      await Promise.race([new Promise((done) => setTimeout(done, plan.everySeconds * 1000)), interrupts.first]);
    }
  }
}
