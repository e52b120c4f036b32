// A built group of envs in a worker process that is put to sleep and woken: how soon its first frame is there, and what it uses meanwhile.
// The consumer is this process, which answers nothing while the group sleeps, as a learner that was not told of it.
import { cpuNsSince, threadCpuNs } from '../../bench/cpu-load.js';
import { type EnvRig, raiseEnvRig } from '../../bench/env-rig.js';
import { floatOutput } from '../../bench/outputs.js';
import { readPssBytes } from '../../supervisor/role-memory.js';

/** A process that has not come back by then never will. */
const LIMIT_MS = 30_000;
/** Steps are over and quotas used up by then; CPU time counts from here. */
const SETTLE_MS = 250;

export interface Hold {
  sleep(): void;
  wake(): void;
}

export interface Slept {
  readonly wakeMs: number;
  /** Cores. */
  readonly cpuAsleep: number;
  readonly pssBytes: number;
}

export interface SleepingRig {
  readonly pid: number;
  sleepFor(ms: number, hold: Hold): Promise<Slept>;
  close(): Promise<void>;
}

export const groupOf = (envs: number): Promise<EnvRig> =>
  raiseEnvRig({ kind: 'noop', config: { constructMs: 1 }, envs, outputs: floatOutput('vector'), batchLimit: envs });

const pass = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function raiseSleepingRig(envs: number): Promise<SleepingRig> {
  const rig = await groupOf(envs);
  const { reader, segment, workerPid } = rig;
  const length = segment.spec.blocks[0]?.action.length ?? 1;
  const actions = new Int32Array(envs * length);
  const taken: number[] = [];
  /** Takes what is ready and leaves it unanswered. */
  const take = (): number => {
    const count = reader.collect(envs);
    taken.push(...reader.rowOf.subarray(0, count));
    return count;
  };
  const answer = (): void => {
    const rows = Int32Array.from(taken.splice(0));
    if (rows.length > 0) reader.act(rows.length, rows, actions);
  };
  return {
    pid: workerPid,
    async sleepFor(ms, hold) {
      rig.consume(20);
      hold.sleep();
      let cpuAsleep = 0;
      let pssBytes = 0;
      let wakeMs = 0;
      try {
        await pass(SETTLE_MS);
        take();
        const before = threadCpuNs(workerPid);
        const beganMs = performance.now();
        await pass(ms);
        cpuAsleep = cpuNsSince(workerPid, before) / 1e6 / (performance.now() - beganMs);
        pssBytes = readPssBytes(workerPid);
        take();
      } finally {
        const releasedMs = performance.now();
        hold.wake();
        answer();
        while (take() === 0 && performance.now() - releasedMs < LIMIT_MS);
        wakeMs = performance.now() - releasedMs;
        answer();
      }
      if (wakeMs >= LIMIT_MS) throw new Error(`no frame within ${LIMIT_MS / 1000} s of the wake`);
      return { wakeMs, cpuAsleep, pssBytes };
    },
    close: rig.close,
  };
}
