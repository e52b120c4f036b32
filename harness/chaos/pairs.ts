// Two faults in one rig, the second before the first is over: which two, how far apart and where follows from a recorded seed. Only rows
// that break one worker or env each can be paired; the invariants are those of a single row.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monotonicMs } from '../supervisor/clock.js';
import { type ChaosRow, INVARIANTS, type RowContext, type RowResult } from './chaos-row.js';
import { awaitFault, type CrewChaosRow } from './crew-row.js';
import type { Fault } from './fault.js';
import { judgeRig } from './invariants/judge-rig.js';
import { type Rig, type RigOptions, raiseRig } from './rig.js';
import { onlyRates } from './run-matrix.js';
import { pickOne, seededRandom } from './seeded-random.js';
import { watchFor } from './until.js';

/** The second fault strikes at most this long after the first. */
const APART_MS = 1500;

export interface PairResult
  extends Pick<RowResult, 'result' | 'reason' | 'detect_ms' | 'recover_ms' | 'invariants' | 'evidence' | 'seed' | 'seconds'> {
  readonly rows: readonly [number, number];
  readonly apart_ms: number;
}

export interface Pair {
  readonly rows: readonly [CrewChaosRow, CrewChaosRow];
  readonly apartMs: number;
  readonly seed: number;
}

/** `count` pairs that follow from the seed. Pure. */
export function choosePairs(rows: readonly ChaosRow[], count: number, seed: number): Pair[] {
  const pairable = rows.filter((row): row is CrewChaosRow => 'crew' in row && (row as CrewChaosRow).crew.pairable === true);
  if (pairable.length === 0) return [];
  const random = seededRandom(seed, 1);
  return Array.from({ length: count }, (_, i) => ({
    rows: [pickOne(pairable, random), pickOne(pairable, random)] as const,
    apartMs: Math.floor(random() * APART_MS),
    seed: seed + 1000 + i,
  }));
}

/** What two rows need of one rig: eight workers, the plan of both. */
function pairRig(pair: Pair, context: RowContext): RigOptions {
  const [a, b] = pair.rows.map(({ crew }) => (typeof crew.rig === 'function' ? crew.rig(context) : (crew.rig ?? {})));
  // Two late workers at once must not look like a machine that stands still.
  const health = { ...a?.plan?.health, ...b?.plan?.health, suspend: { share: 0.5 } };
  return { ...a, ...b, plan: { ...a?.plan, ...b?.plan, tiers: [80], workers: 8, health } };
}

type Shared = Pick<RowContext, 'patience' | 'windowSeconds' | 'say'>;

/** Both faults in one rig; once more when the only complaint is a rate, as for a row. Never rejects. */
export async function runPair(pair: Pair, shared: Shared): Promise<PairResult> {
  const first = await tryPair(pair, shared);
  return first.result === 'FAIL' && onlyRates(first) ? tryPair(pair, shared) : first;
}

async function tryPair(pair: Pair, shared: Shared): Promise<PairResult> {
  const beganMs = performance.now();
  const dir = mkdtempSync(join(tmpdir(), 'envladder-chaos-pair-'));
  const context: RowContext = { ...shared, seed: pair.seed, dir };
  const base = {
    rows: [pair.rows[0].row, pair.rows[1].row] as const,
    apart_ms: pair.apartMs,
    seed: pair.seed,
  };
  const none = Object.fromEntries(INVARIANTS.map((name) => [name, null])) as RowResult['invariants'];
  let rig: Rig | null = null;
  try {
    rig = await raiseRig(context, pairRig(pair, context));
    await watchFor(context.windowSeconds * 1000);
    const faults: Fault[] = [];
    const waits: ReturnType<typeof awaitFault>[] = [];
    for (const [i, row] of pair.rows.entries()) {
      if (i > 0) await watchFor(pair.apartMs);
      const fault = await row.crew.inject(rig);
      if ('skipped' in fault) {
        await Promise.all(waits);
        return {
          ...base,
          result: 'SKIPPED',
          reason: fault.skipped,
          detect_ms: null,
          recover_ms: null,
          invariants: none,
          evidence: {},
          seconds: 0,
        };
      }
      faults.push(fault);
      waits.push(awaitFault(rig, row.crew, fault));
    }
    const awaited = await Promise.all(waits);
    const afterMs = monotonicMs();
    await watchFor(context.windowSeconds * 1000);
    const seenMs = monotonicMs();
    const problems = awaited.flatMap(({ problems: each }) => each);
    for (const fault of faults) problems.push(...((await fault.undo?.()) ?? []));
    const end = await rig.stop();
    const first = faults[0] as Fault;
    const findings = await judgeRig(rig, end, {
      expect: faults.flatMap(({ expect }) => expect ?? []),
      touched: faults.flatMap(({ touched }) => touched),
      noRates: faults.map(({ noRates }) => noRates).find((reason) => reason !== undefined) ?? null,
      windows: { beforeMs: rig.sampler.samples[0]?.ms ?? first.atMs, faultMs: first.atMs, afterMs, seenMs },
    });
    const slowest = (pick: 'detect' | 'recover'): number | null => {
      const times = awaited.map(({ times }, i) => (times[pick] === null ? null : times[pick] - (faults[i] as Fault).atMs));
      const known = times.filter((time) => time !== null);
      return known.length === 0 ? null : Math.round(Math.max(...known) * 10) / 10;
    };
    const broken = INVARIANTS.filter((name) => findings[name]?.ok === false).map((name) => `${name}: ${findings[name]?.evidence}`);
    const reasons = [...problems, ...broken];
    return {
      ...base,
      result: reasons.length === 0 ? 'PASS' : 'FAIL',
      reason: reasons.join('; '),
      detect_ms: slowest('detect'),
      recover_ms: slowest('recover'),
      invariants: { ...none, ...Object.fromEntries(INVARIANTS.map((name) => [name, findings[name]?.ok ?? null])) },
      evidence: Object.fromEntries(
        INVARIANTS.flatMap((name) => (findings[name] === undefined ? [] : [[name, findings[name]?.evidence ?? '']])),
      ),
      seconds: Number(((performance.now() - beganMs) / 1000).toFixed(2)),
    };
  } catch (error) {
    const reason = `the pair could not be run: ${error instanceof Error ? error.message : String(error)}`;
    return { ...base, result: 'FAIL', reason, detect_ms: null, recover_ms: null, invariants: none, evidence: {}, seconds: 0 };
  } finally {
    await rig?.stop();
    await rig?.writer.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
