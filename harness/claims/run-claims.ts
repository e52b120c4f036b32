// Runs claims one after the other and keeps what they measured, with the rule each was registered with. A claim that throws is recorded as
// failed and the rest go on; an interrupt keeps what is done. Judges nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadMonitor } from '../bench/cpu-load.js';
import type { ClaimEntry, ClaimSize, ClaimsRecord } from '../contract/claims-record.js';
import { CLAIMS_RECORD_VERSION } from '../contract/claims-record.js';
import type { MachineFacts } from '../contract/run-record.js';
import type { Claim, ClaimContext, Measured } from './claim.js';
import { interleaveSides } from './interleave.js';

export interface RunClaimsOptions {
  readonly claims: readonly Claim[];
  readonly size: ClaimSize;
  readonly seed: number;
  readonly repeats: number;
  /** Longest time of one claim; it then ends after the round at hand. */
  readonly limitSeconds: number;
  readonly signal: AbortSignal;
  readonly load: LoadMonitor;
  readonly machine: MachineFacts;
  readonly toolVersion: string;
  readonly say: (line: string) => void;
  /** Called before a claim is measured, so that its rule is printed first. */
  readonly onRegistered: (claim: Claim) => void;
  /** Called after each claim with the record so far: whoever is killed later loses one claim. */
  readonly onEntry: (entry: ClaimEntry, soFar: ClaimsRecord) => void;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 4000);

/** One claim. Never rejects. */
async function runClaim(claim: Claim, options: RunClaimsOptions): Promise<ClaimEntry> {
  const { size, seed, repeats, load, say } = options;
  const registered = claim.register();
  const began = performance.now();
  const foreignCores: number[] = [];
  const entry = (state: ClaimEntry['state'], reason: string, measured?: Measured): ClaimEntry => ({
    id: claim.id,
    said: claim.said,
    question: claim.question,
    registered,
    state,
    reason,
    samples: measured?.samples ?? {},
    conditions: { ...measured?.conditions },
    foreign_cores: foreignCores.map((cores) => Number(cores.toFixed(3))),
    notes: [...(measured?.notes ?? [])],
    repeats: Math.max(0, ...Object.values(measured?.samples ?? {}).flatMap((sides) => Object.values(sides).map(({ length }) => length))),
    seconds: Number(((performance.now() - began) / 1000).toFixed(2)),
  });
  const late = new AbortController();
  const over = late.signal;
  const timer = setTimeout(() => late.abort(), options.limitSeconds * 1000);
  const signal = AbortSignal.any([options.signal, over]);
  let dir: string | undefined;
  try {
    const missing = await claim.needs();
    if (missing !== null) return entry('not-testable', missing);
    dir = mkdtempSync(join(tmpdir(), `envladder-claim-${claim.id}-`));
    const context: ClaimContext = {
      size,
      pick: (bySize) => bySize[size],
      seed,
      repeats,
      signal,
      dir,
      say,
      interleave: (bodies, own) =>
        interleaveSides({ claim: claim.id, seed, repeats, signal, load, say, onLoad: (cores) => foreignCores.push(cores) }, bodies, own),
    };
    const measured = await claim.run(context);
    if (options.signal.aborted) return entry('cut', 'interrupted', measured);
    if (over.aborted) return entry('cut', `it took longer than its ${options.limitSeconds} s`, measured);
    return entry('measured', '', measured);
  } catch (error) {
    if (options.signal.aborted) return entry('cut', 'interrupted');
    if (over.aborted) return entry('cut', `it took longer than its ${options.limitSeconds} s`);
    return entry('failed', messageOf(error));
  } finally {
    clearTimeout(timer);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}

/** All of `options.claims`, in order. */
export async function runClaims(options: RunClaimsOptions): Promise<ClaimsRecord> {
  const startedAt = new Date().toISOString();
  const claims: ClaimEntry[] = [];
  const record = (): ClaimsRecord => ({
    schema_version: CLAIMS_RECORD_VERSION,
    tool_version: options.toolVersion,
    seed: options.seed,
    size: options.size,
    repeats: options.repeats,
    machine: options.machine,
    started_at: startedAt,
    ended_at: new Date().toISOString(),
    interrupted: options.signal.aborted,
    claims: [...claims],
  });
  for (const claim of options.claims) {
    if (options.signal.aborted) break;
    options.onRegistered(claim);
    const entry = await runClaim(claim, options);
    claims.push(entry);
    options.onEntry(entry, record());
  }
  return record();
}
