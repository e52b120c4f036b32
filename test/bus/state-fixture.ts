// What the tests of the state store share: looks at a run that never took place, and waiting for what another process does.
import { setTimeout as pause } from 'node:timers/promises';
import type { StateSnapshot } from '../../harness/bus/state/state-mirror.js';
import type { RunInfo, WorkerBeat } from '../../harness/bus/state/state-store.js';

export function infoAt(published: number): RunInfo {
  return {
    runId: 'r1',
    plan: 'smoke',
    pid: 4242,
    startedAt: '2026-11-30T08:00:00.000Z',
    at: '2026-11-30T08:00:01.000Z',
    phase: 'measuring',
    tier: 0,
    envs: 7,
    live: 7,
    quarantined: 0,
    samplingSps: published,
    trainingSps: 12.5,
    restarts: 0,
    suspended: null,
  };
}

export function beatOf(worker: number, frames: number | null = 10): WorkerBeat {
  return {
    worker,
    verdict: 'ok',
    epoch: 0,
    pid: 100 + worker,
    envId: -1,
    op: 'idle',
    frames,
    rssBytes: 2 ** 27,
    nativeAgeMs: 12,
    loopAgeMs: null,
    opAgeMs: null,
    restarts: 0,
    budgetLeft: 10,
  };
}

/** A look at `envs` envs; the numbers tell looks apart. */
export function lookAt(mark: number, envs = 7, version = 1): StateSnapshot {
  const envIds = Int32Array.from({ length: envs }, (_, envId) => envId);
  return {
    info: infoAt(mark),
    workers: [beatOf(0, mark), beatOf(1, null)],
    envs: { frames: new Float64Array(envs).fill(mark), states: new Uint8Array(envs).fill(1) },
    rewards: {
      envIds,
      episodes: new Float64Array(envs).fill(mark),
      returnSum: new Float64Array(envs).fill(mark * 2.5),
      lengthSum: new Float64Array(envs).fill(mark * 10),
      lastReturn: new Float64Array(envs).fill(-0.25),
    },
    scores: { version, kinds: { cartpole: 0.75 }, envIds: Int32Array.of(3, 1_200), envScores: Float32Array.of(0.5, 0.25) },
  };
}

/** Polls, because what is waited for is another process's doing; the suite's timeout stands behind it. */
export async function until(what: string, seen: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  for (const end = Date.now() + limitMs; Date.now() < end; await pause(10)) if (await seen()) return;
  throw new Error(`never came: ${what}`);
}
