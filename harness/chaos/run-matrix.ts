// Runs rows one after another, each on a rig of its own, and keeps what came of them. A row that throws has failed, with what it threw; a
// row whose only complaint is a rate (I6) is run once more, since another user of the machine can cause it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChaosRow,
  INVARIANTS,
  type InvariantName,
  type PlantedBug,
  type RowContext,
  type RowOutcome,
  type RowResult,
  type Skipped,
} from './chaos-row.js';

export interface MatrixOptions {
  readonly rows: readonly ChaosRow[];
  readonly seed: number;
  readonly patience: number;
  readonly windowSeconds: number;
  readonly full?: boolean;
  readonly say: (line: string) => void;
  readonly onResult: (result: RowResult) => void;
  readonly bug?: PlantedBug;
  /** True: no further row is begun. */
  readonly over: () => boolean;
}

/** Rows of `options`, in order; stops early when `over` says so. */
export async function runMatrix(options: MatrixOptions): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of options.rows) {
    if (options.over()) break;
    const result = await runRow(row, options);
    results.push(result);
    options.onResult(result);
  }
  return results;
}

export type RowRun = Pick<MatrixOptions, 'seed' | 'patience' | 'windowSeconds' | 'full' | 'say' | 'bug'>;

/** One row, with its second chance. Never rejects. */
export async function runRow(row: ChaosRow, options: RowRun): Promise<RowResult> {
  const reason = row.needs?.() ?? null;
  if (reason !== null) return resultOf(row, options.seed, { skipped: reason }, new Date(), 0, 0);
  let result = await runOnce(row, options, 1);
  if (result.result === 'FAIL' && onlyRates(result)) {
    const first = result.reason;
    result = await runOnce(row, options, 2);
    result = { ...result, notes: [...result.notes, `run twice: the first time ${first}`] };
  }
  return result;
}

const RATES: InvariantName = 'I6';

/** Whether a failed result complains of nothing but rates. Pure. */
export function onlyRates(result: Pick<RowResult, 'invariants' | 'reason'>): boolean {
  const failed = INVARIANTS.filter((name) => result.invariants[name] === false);
  return failed.length === 1 && failed[0] === RATES && result.reason.startsWith(`${RATES}:`);
}

async function runOnce(row: ChaosRow, options: RowRun, runs: number): Promise<RowResult> {
  const startedAt = new Date();
  const beganMs = performance.now();
  const dir = mkdtempSync(join(tmpdir(), `envladder-chaos-${row.row}-`));
  // Each row has a seed of its own, so that --only repeats what the whole matrix did.
  const seed = options.seed + row.row;
  const context: RowContext = { ...options, seed, dir };
  let outcome: RowOutcome | Skipped;
  try {
    outcome = await row.run(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    outcome = { detectMs: null, recoverMs: null, problems: [`the row could not be run: ${message}`], findings: {}, notes: stackOf(error) };
  }
  const result = resultOf(row, seed, outcome, startedAt, (performance.now() - beganMs) / 1000, runs);
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    return { ...result, result: 'FAIL', reason: `${result.reason}${result.reason === '' ? '' : '; '}I5: ${(error as Error).message}` };
  }
  return result;
}

function stackOf(error: unknown): string[] {
  return error instanceof Error && error.stack !== undefined ? error.stack.split('\n').slice(1, 4) : [];
}

/** Pure: what a row's outcome means. */
export function resultOf(
  row: Pick<ChaosRow, 'row' | 'fault' | 'recoverLimitMs'>,
  seed: number,
  outcome: RowOutcome | Skipped,
  startedAt: Date,
  seconds: number,
  runs: number,
): RowResult {
  const shared = {
    row: row.row,
    fault: row.fault,
    recover_limit_ms: row.recoverLimitMs,
    seed,
    started_at: startedAt.toISOString(),
    seconds: Number(seconds.toFixed(2)),
    runs,
  };
  const none = Object.fromEntries(INVARIANTS.map((name) => [name, null])) as RowResult['invariants'];
  if ('skipped' in outcome) {
    return {
      ...shared,
      result: 'SKIPPED',
      reason: outcome.skipped,
      detect_ms: null,
      recover_ms: null,
      invariants: none,
      evidence: {},
      notes: [],
    };
  }
  const { findings, problems, detectMs, recoverMs } = outcome;
  const broken = INVARIANTS.filter((name) => findings[name]?.ok === false).map((name) => `${name}: ${findings[name]?.evidence}`);
  const reasons = [...problems, ...broken];
  const round = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10);
  return {
    ...shared,
    result: reasons.length === 0 ? 'PASS' : 'FAIL',
    reason: reasons.join('; '),
    detect_ms: round(detectMs),
    recover_ms: round(recoverMs),
    invariants: { ...none, ...Object.fromEntries(INVARIANTS.map((name) => [name, findings[name]?.ok ?? null])) },
    evidence: Object.fromEntries(
      INVARIANTS.flatMap((name) => (findings[name] === undefined ? [] : [[name, findings[name]?.evidence ?? '']])),
    ),
    notes: outcome.notes ?? [],
  };
}
