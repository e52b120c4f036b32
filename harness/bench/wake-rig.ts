// Holds a worker process still in one of the ways a dormant group knows, lets it go, and times its first frame. The CPU quota is that of
// cgroup v1 where version 2 has no cpu controller: the kernel's throttling is the same.
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSeatCgroups } from '../supervisor/cgroup.js';
import { signalGroup } from '../supervisor/dormant-seats.js';
import type { EnvRig } from './env-rig.js';

export interface Hold {
  /** Why this machine has no such thing, or null. */
  readonly problem: () => string | null;
  readonly note: string;
  /** Holds the process; the first returned function lets it go, the second clears up. */
  readonly hold: (pid: number) => { readonly release: () => void; readonly clear: () => void };
}

/** Longer than the quota's period of 100 ms, and far longer than a sweep of all envs. */
const SETTLE_MS = 150;
/** A process that has not come back by then never will. */
const LIMIT_MS = 10_000;
const V1_CPU = '/sys/fs/cgroup/cpu';
/** Where a process goes back to: the group it shares with us. */
const HOME = join(V1_CPU, 'cgroup.procs');

function freezeProblem(): string | null {
  const groups = openSeatCgroups({ runId: `bench-${process.pid}` });
  const usable = groups.seat(0)?.limits.freeze === true;
  groups.close();
  return usable ? null : (groups.degraded ?? 'no cgroup.freeze');
}

function withQuota<Result>(use: (folder: string) => Result): Result {
  const folder = join(V1_CPU, `envladder-bench-${process.pid}`);
  mkdirSync(folder);
  try {
    return use(folder);
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
}

function quotaProblem(): string | null {
  try {
    withQuota((folder) => {
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), '1000');
      rmdirSync(folder);
    });
    return null;
  } catch (error) {
    return `no CPU quota to be had: ${(error as Error).message}`;
  }
}

export const HOLDS = {
  frozen: {
    problem: freezeProblem,
    note: 'cgroup.freeze',
    hold(pid) {
      const groups = openSeatCgroups({ runId: `bench-${process.pid}` });
      const group = groups.seat(0);
      if (group?.enter(pid) !== true || !group.freeze(true)) throw new Error('the worker cannot be frozen');
      return {
        release: () => void group.freeze(false),
        clear: () => {
          // Out first: closing kills who is left inside.
          writeFileSync(join(groups.folder ?? '', '..', 'cgroup.procs'), String(pid));
          groups.close();
        },
      };
    },
  },
  stopped: {
    problem: () => null,
    note: 'SIGSTOP and SIGCONT',
    hold(pid) {
      signalGroup(pid, 'SIGSTOP');
      return { release: () => void signalGroup(pid, 'SIGCONT'), clear: () => undefined };
    },
  },
  throttled: {
    problem: quotaProblem,
    note: 'quota of 1 % of a core lifted (cgroup v1); in its sleep it goes on at that rate',
    hold: (pid) =>
      withQuota((folder) => {
        writeFileSync(join(folder, 'cpu.cfs_quota_us'), '1000');
        writeFileSync(join(folder, 'cgroup.procs'), String(pid));
        return {
          release: () => writeFileSync(join(folder, 'cpu.cfs_quota_us'), '-1'),
          clear: () => {
            writeFileSync(HOME, String(pid));
            rmdirSync(folder);
          },
        };
      }),
  },
} as const satisfies Record<string, Hold>;

export type HoldName = keyof typeof HOLDS;

/** Milliseconds from the release to the first frame that was not there before. */
export function wakeOf({ reader, segment, workerPid }: EnvRig, envs: number, { hold }: Hold): Promise<{ ms: number }> {
  const length = segment.spec.blocks[0]?.action.length ?? 1;
  const actions = new Int32Array(envs * length);
  const take = (): number => {
    const count = reader.collect(envs);
    if (count > 0) reader.act(count, reader.rowOf, actions);
    return count;
  };
  const held = hold(workerPid);
  const settledMs = performance.now() + SETTLE_MS;
  while (performance.now() < settledMs) take();
  const beganMs = performance.now();
  held.release();
  while (take() === 0 && performance.now() - beganMs < LIMIT_MS);
  const ms = performance.now() - beganMs;
  held.clear();
  if (ms >= LIMIT_MS) return Promise.reject(new Error(`no frame within ${LIMIT_MS / 1000} s of the wake`));
  return Promise.resolve({ ms });
}
