// A row that breaks a running crew: raises a rig, waits for its steady state, injects, clocks detection and recovery, looks on for a while,
// undoes what must be undone, stops, and judges every invariant. What is particular to a fault is in the four functions of the row.
import { monotonicMs } from '../supervisor/clock.js';
import type { CrewEnd } from '../supervisor/crew.js';
import type { ChaosRow, RowContext, RowOutcome, Skipped } from './chaos-row.js';
import type { Fault } from './fault.js';
import { judgeRig } from './invariants/judge-rig.js';
import { type Rig, type RigOptions, raiseRig } from './rig.js';
import { watchFor } from './until.js';

export interface CrewRow extends Omit<ChaosRow, 'run'> {
  /** Can strike together with another one, in a rig made by `pairRig` (pairs.ts). */
  readonly pairable?: boolean;
  readonly rig?: RigOptions | ((context: RowContext) => RigOptions);
  readonly inject: (rig: Rig) => Promise<Fault | Skipped>;
  /** After the rig was stopped: required outcomes that did not hold. */
  readonly verify?: (rig: Rig, fault: Fault, end: CrewEnd) => Promise<readonly string[]> | readonly string[];
}

const LEAST_WAIT_MS = 30_000;

/** A row whose parts others may use: pairs inject two of them into one rig. */
export interface CrewChaosRow extends ChaosRow {
  readonly crew: CrewRow;
}

export function crewRow(row: CrewRow): CrewChaosRow {
  return { ...row, crew: row, run: (context) => runCrewRow(row, context) };
}

export interface FaultTimes {
  readonly detect: number | null;
  readonly recover: number | null;
}

/** Waits until the fault was noticed and the steady state is back, as far as it says how to tell. */
export async function awaitFault(rig: Rig, row: CrewRow, fault: Fault): Promise<{ times: FaultTimes; problems: string[] }> {
  const { detected, recovered } = fault;
  const limitMs = fault.waitMs ?? Math.max(LEAST_WAIT_MS, (row.recoverLimitMs ?? 0) * 3);
  const times = { detect: null as number | null, recover: null as number | null };
  await rig.wait(limitMs, () => {
    times.detect ??= detected?.() ?? null;
    times.recover ??= recovered?.() ?? null;
    return (detected === undefined || times.detect !== null) && (recovered === undefined || times.recover !== null);
  });
  const problems: string[] = [];
  if (detected !== undefined && times.detect === null) problems.push(`not noticed within ${limitMs / 1000} s`);
  if (recovered !== undefined && times.recover === null) problems.push(`not recovered within ${limitMs / 1000} s`);
  return { times, problems };
}

export async function runCrewRow(row: CrewRow, context: RowContext): Promise<RowOutcome | Skipped> {
  const rig = await raiseRig(context, typeof row.rig === 'function' ? row.rig(context) : row.rig);
  try {
    // The rates before the fault need their time.
    await watchFor(context.windowSeconds * 1000);
    const fault = await row.inject(rig);
    if ('skipped' in fault) return fault;
    const { times, problems } = await awaitFault(rig, row, fault);
    const afterMs = monotonicMs();
    await watchFor(context.windowSeconds * 1000);
    const seenMs = monotonicMs();
    problems.push(...((await fault.undo?.()) ?? []));
    const end = await rig.stop();
    problems.push(...((await row.verify?.(rig, fault, end)) ?? []));
    const findings = await judgeRig(rig, end, {
      expect: fault.expect ?? [],
      touched: fault.touched,
      noRates: fault.noRates ?? null,
      windows: { beforeMs: rig.sampler.samples[0]?.ms ?? fault.atMs, faultMs: fault.atMs, afterMs, seenMs },
    });
    const recoverMs = times.recover === null ? null : times.recover - fault.atMs;
    const allowedMs = row.recoverLimitMs === null ? null : row.recoverLimitMs * context.patience;
    if (recoverMs !== null && allowedMs !== null && allowedMs > 0 && recoverMs > allowedMs) {
      problems.push(`recovery took ${Math.round(recoverMs)} ms, the limit is ${Math.round(allowedMs)} ms`);
    }
    return { detectMs: times.detect === null ? null : times.detect - fault.atMs, recoverMs, problems, findings };
  } finally {
    await rig.stop();
    await rig.writer.close();
  }
}
