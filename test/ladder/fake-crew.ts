// A crew without processes: counts grow with every question, and tests say when it dies, hangs or loses frames.
import type { Death } from '../../harness/contract/run-record.js';
import type { LearnerSnapshot } from '../../harness/contract/snapshot.js';
import { monotonicMs } from '../../harness/supervisor/clock.js';
import type { Crew, CrewEnd, CrewOptions, CrewScan, TierStart } from '../../harness/supervisor/crew.js';
import { snapshot } from './plan-fixture.js';

const WORKER_DEATH: Death = {
  role: 'worker',
  worker: 0,
  pid: 8,
  cause: 'SIGKILL',
  last_env_id: null,
  last_operation: null,
  stderr_tail: '',
  restarted: true,
  run_s: 0,
};

export interface FakeCrew {
  readonly raise: (options: CrewOptions) => Promise<Crew>;
  options(): CrewOptions;
  /** Resolves when the crew is asked to measure tier `tier`. */
  measuring(tier: number): Promise<void>;
  die(error: Error, death: Death): void;
  /** A worker dies, and another takes its place. */
  restartWorker(): void;
  /** Frames the learner loses track of from now on. */
  loseFrames(count: number): void;
  quarantine(count: number): void;
  readonly stops: number[];
}

export interface FakeBehaviour {
  /** growTo never becomes live. */
  readonly late?: boolean;
  /** Called when the crew stands, before the first tier. */
  readonly onRaised?: () => void;
  /** Frames that the control words hold at the end and the learner never heard of, and that it says it took. */
  readonly unheard?: number;
  /** This env published seven frames before the measured time, and none in it. */
  readonly stuckEnv?: number;
  /** Torn reads and frames out of order that the learner counts with every question. */
  readonly torn?: number;
  readonly outOfOrder?: number;
  /** The learner gives no count at the stop. */
  readonly silentEnd?: boolean;
  /** stop resolves only when it is asked a second time. */
  readonly stubborn?: boolean;
}

export function fakeCrew(behaviour: FakeBehaviour = {}): FakeCrew {
  let given: CrewOptions | undefined;
  let tier = -1;
  let lost = 0;
  let quarantined = 0;
  let frames = 0;
  let looks = 0;
  let restarts = 0;
  const stops: number[] = [];
  const waiting = new Map<number, () => void>();
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  let letGo: () => void = () => undefined;
  const secondStop = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const options = (): CrewOptions =>
    given ??
    (() => {
      throw new Error('not raised');
    })();
  const live = (): number => (behaviour.late === true ? 1 : (options().plan.tiers[tier]?.envs ?? 0) - quarantined);

  const counts = (): LearnerSnapshot => {
    frames += 100;
    return snapshot({
      monotonicMs: monotonicMs(),
      published: frames,
      taken: frames - 10,
      trained: frames - 20 - lost,
      pending: 10,
      updates: Math.floor(frames / 100),
      torn: (behaviour.torn ?? 0) * (frames / 100),
      outOfOrder: (behaviour.outOfOrder ?? 0) * (frames / 100),
      batches: frames / 10,
      batchFill: 1,
    });
  };
  const scan = (): CrewScan => ({ published: frames, taken: frames - 10, live: live(), quarantined });

  const crew: Crew = {
    backend: 'fake',
    backendVersion: '1',
    resumedFrom: null,
    get restarts() {
      return restarts;
    },
    failed,
    growTo: async (index): Promise<TierStart> => {
      tier = index;
      return { timeToFirstBatchS: 0.01, timeToAllLiveS: behaviour.late === true ? null : 0.02 };
    },
    measure: async (index) => {
      queueMicrotask(() => waiting.get(index)?.());
      return counts();
    },
    snapshot: async () => counts(),
    scan,
    envFrames: () => {
      looks++;
      const envs = new Float64Array(options().plan.tiers[tier]?.envs ?? 0).fill(5 * looks);
      if (behaviour.stuckEnv !== undefined) envs[behaviour.stuckEnv] = 7;
      return envs;
    },
    envStates: () => new Uint8Array(options().plan.tiers.at(-1)?.envs ?? 0).fill(1, 0, live()),
    memory: () => ({ supervisor: { pssBytes: 1, processes: 1 } }),
    shmBytes: () => 4096,
    checkpoint: () => undefined,
    health: () => ({
      workers: [],
      learner: { pid: null, restarts: 0, report: null },
      suspended: null,
      rebuilds: new Uint32Array(0),
      failures: new Uint32Array(0),
      deadlinesMissed: { construct: 0, reset: 0, step: 0, close: 0 },
      envStats: null,
    }),
    memoryMaxBytes: () => null,
    errors: () => [],
    obey: async ({ id }) => ({ id, ok: true, message: 'done' }),
    stop: async (drainMs): Promise<CrewEnd> => {
      stops.push(drainMs);
      if (behaviour.stubborn === true) {
        if (stops.length > 1) letGo();
        await secondStop;
      }
      const end = counts();
      return {
        snapshot: behaviour.silentEnd === true ? null : { ...end, trained: end.trained + 10, pending: 0 },
        scan: { ...scan(), published: end.published, taken: end.taken + (behaviour.unheard ?? 0) },
        killed: [],
      };
    },
  };

  return {
    raise: async (raised) => {
      given = raised;
      behaviour.onRaised?.();
      return crew;
    },
    options,
    measuring: (index) => new Promise<void>((resolve) => waiting.set(index, resolve)),
    die: (error, death) => {
      options().onDeath(death);
      fail(error);
    },
    restartWorker: () => {
      restarts++;
      options().onDeath(WORKER_DEATH);
    },
    loseFrames: (count) => {
      lost += count;
    },
    quarantine: (count) => {
      quarantined = count;
    },
    stops,
  };
}
