// One look at a running crew in the words of the state store: what people and tools find in Redis. Pure but for the crew it reads; the large
// parts (per env) are made only when they are asked for.
import type { RunInfo, Scores, WorkerBeat } from '../bus/state/state-store.js';
import type { EnvRange } from '../contract/env-state.js';
import type { Crew, WorkerHealth } from '../supervisor/crew.js';
import type { LadderStatus } from './ladder-status.js';

export interface RunFacts {
  readonly runId: string;
  readonly plan: string;
  readonly startedAt: string;
}

export function runInfo(facts: RunFacts, status: LadderStatus, suspended: string | null): RunInfo {
  const { phase, tier, envs, live, quarantined, samplingSps, trainingSps, restarts } = status;
  return {
    ...facts,
    pid: process.pid,
    at: new Date().toISOString(),
    phase,
    tier,
    envs,
    live,
    quarantined,
    samplingSps: Math.round(samplingSps),
    trainingSps: Math.round(trainingSps),
    restarts,
    suspended,
  };
}

const age = (ms: number): number | null => (Number.isFinite(ms) && ms >= 0 ? Math.round(ms) : null);

export function workerBeat(worker: WorkerHealth): WorkerBeat {
  const { report } = worker;
  return {
    worker: worker.worker,
    verdict: worker.verdict,
    epoch: worker.epoch,
    pid: worker.pid,
    envId: worker.envId,
    op: worker.op,
    frames: report?.frames ?? null,
    rssBytes: report?.rssBytes ?? null,
    nativeAgeMs: age(worker.nativeAgeMs),
    loopAgeMs: age(worker.loopAgeMs),
    opAgeMs: age(worker.opAgeMs),
    restarts: worker.restarts,
    budgetLeft: worker.budgetLeft,
  };
}

/** Copies: the crew reuses its arrays. */
export function envBeats(crew: Crew): { frames: Float64Array; states: Uint8Array } {
  return { frames: crew.envFrames().slice(), states: crew.envStates().slice() };
}

/** Shares of planned time live, in mean by mix entry; env by env where it is less than all of it. NaN = not started yet, left out. */
export function scoresOf(version: number, ranges: readonly EnvRange[], shares: Float32Array): Scores {
  const sums = new Map<string, { sum: number; count: number }>();
  const envIds: number[] = [];
  for (const { first, count, entry } of ranges) {
    const of = sums.get(entry) ?? { sum: 0, count: 0 };
    sums.set(entry, of);
    for (let env = first; env < first + count; env++) {
      const share = shares[env] ?? Number.NaN;
      if (Number.isNaN(share)) continue;
      of.sum += share;
      of.count++;
      if (share < 1) envIds.push(env);
    }
  }
  return {
    version,
    kinds: Object.fromEntries([...sums].filter(([, { count }]) => count > 0).map(([entry, { sum, count }]) => [entry, sum / count])),
    envIds: Int32Array.from(envIds),
    envScores: Float32Array.from(envIds, (env) => shares[env] as number),
  };
}
