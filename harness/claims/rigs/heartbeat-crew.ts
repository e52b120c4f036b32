// A small real crew whose deaths are decided in one of two ways: by the account's heartbeats in Redis alone, or by the kernel and progress in
// shared memory, with its state mirrored into the same Redis as in every run. Its envs hang when they are told to.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BEAT_ENVIRONMENT } from '../../bus/state/redis-address.js';
import { openRedisStateStore } from '../../bus/state/redis-state-store.js';
import { createStateMirror } from '../../bus/state/state-mirror.js';
import type { StateStore } from '../../bus/state/state-store.js';
import { TRIGGER_MODULE } from '../../chaos/rig.js';
import { makeTrigger, type Trigger } from '../../chaos/trigger.js';
import { until } from '../../chaos/until.js';
import { planSchema, resolvePlan } from '../../contract/plan.js';
import { createRegistry, resolveKind } from '../../envs/registry.js';
import { workerBeat } from '../../ladder/state-look.js';
import type { Memory, SegmentSpec } from '../../memory/interface.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { createAccountDetector } from '../../supervisor/account-detector.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { Crew, CrewEvent } from '../../supervisor/crew.js';
import type { WorkerChild } from '../../supervisor/crew-ports.js';
import { entryMessage } from '../../supervisor/entry-message.js';
import { type CrewSeams, raiseCrew } from '../../supervisor/raise-crew.js';

export type Watcher = 'account' | 'progress';

export interface HeartbeatTimes {
  readonly beatS: number;
  readonly scanS: number;
  readonly limitS: number;
  readonly frozenS: number;
  readonly deadlineS: number;
}

export interface HeartbeatCrew {
  readonly crew: Crew;
  readonly trigger: Trigger;
  /** By seat; NaN while it has none. */
  pid(worker: number): number;
  /** An env of the seat. */
  envOf(worker: number): number;
  /** When the watcher took the seat for dead, after `sinceMs`; undefined: not yet. */
  noticedMs(worker: number, sinceMs: number): number | undefined;
  /** Lives that were ended since then. */
  deathsSince(ms: number): number;
  /** All seats up and stepping, and (account) all beats fresh; false after `limitMs`. */
  steady(limitMs: number): Promise<boolean>;
  stop(): Promise<void>;
}

export const WORKERS = 4;
const ENVS = 16;
const PREFIX = 'claims';
const DRAIN_MS = 2000;
const MIRROR_EVERY_MS = 1000;
let crews = 0;

/** The account has no word from the kernel: its supervisor learns of a death when it has decided on it. */
function unheardDeath(child: WorkerChild): WorkerChild {
  let decide: () => void = () => undefined;
  const decided = new Promise<void>((done) => {
    decide = done;
  });
  const exit = Promise.all([child.exit, decided]).then(([status]) => status);
  let known = false;
  void exit.then(() => {
    known = true;
  });
  return Object.create(child, {
    exit: { value: exit },
    alive: { get: () => !known },
    kill: {
      value: (signal: NodeJS.Signals) => {
        decide();
        child.kill(signal);
      },
    },
  }) as WorkerChild;
}

export interface HeartbeatCrewOptions {
  readonly watcher: Watcher;
  readonly times: HeartbeatTimes;
  readonly dir: string;
  readonly redisUrl: string;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export async function raiseHeartbeatCrew(options: HeartbeatCrewOptions): Promise<HeartbeatCrew> {
  const { watcher, times, redisUrl, seed, say } = options;
  const runId = `claims-${process.pid}-${crews++}`;
  const dir = join(options.dir, runId);
  mkdirSync(dir);
  const trigger = makeTrigger({ dir, seed, say, patience: 1, windowSeconds: 1 }, ENVS);
  const plan = resolvePlan(
    planSchema.parse({
      tiers: [ENVS],
      mix: { 'trigger-probe': trigger.entry },
      workers: WORKERS,
      learner: 'random',
      seed,
      stepDeadlineSeconds: times.deadlineS,
      health: {
        mode: watcher,
        account: { beatSeconds: times.beatS, scanSeconds: times.scanS, limitSeconds: times.limitS },
        deadlines: { construct: 60, reset: 60, close: 60 },
        frozenSeconds: times.frozenS,
        graceSeconds: 0.2,
        backoff: { baseSeconds: 0.05, maxSeconds: 0.2 },
        workerBudget: { restarts: 1000 },
        runBudget: { restarts: 10_000 },
        crashBudget: { restarts: 1000 },
      },
      redis: { url: redisUrl, prefix: PREFIX },
    }),
    2,
  );
  const registry = await createRegistry([TRIGGER_MODULE]);
  const entries = plan.mix.map((entry) => entryMessage(plan, entry, resolveKind(registry, entry.kind, entry.config)));
  const store: StateStore = openRedisStateStore({ url: redisUrl, prefix: PREFIX, runId, role: `claims-${watcher}` });
  const events: (CrewEvent & { readonly ms: number })[] = [];
  const hear = (event: CrewEvent): void => void events.push({ ...event, ms: monotonicMs() });
  const kept = { url: process.env[BEAT_ENVIRONMENT.url], prefix: process.env[BEAT_ENVIRONMENT.prefix] };
  const setWhere = (url: string | undefined, prefix: string | undefined): void => {
    for (const [name, value] of [
      [BEAT_ENVIRONMENT.url, url],
      [BEAT_ENVIRONMENT.prefix, prefix],
    ] as const) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  // Workers inherit where to beat, those of later lives too.
  if (watcher === 'account') setWhere(redisUrl, PREFIX);
  const native = createNativeMemory();
  const specs = new Map<number, SegmentSpec>();
  const memory: Memory = {
    ...native,
    createSegment(spec) {
      specs.set(spec.worker, spec);
      return native.createSegment(spec);
    },
  };
  const seams: CrewSeams =
    watcher === 'account'
      ? {
          memory,
          detector: createAccountDetector({ store, emit: hear, scanEveryMs: times.scanS * 1000, limitMs: times.limitS * 1000 }),
          wrapWorker: unheardDeath,
        }
      : { memory };
  const mirror = watcher === 'progress' ? createStateMirror({ store, onEvent: hear }) : null;
  let timer: NodeJS.Timeout | undefined;
  let crew: Crew | null = null;
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await crew?.stop(DRAIN_MS);
    setWhere(kept.url, kept.prefix);
    if (mirror === null) store.close();
    else await mirror.close();
    trigger.close();
  };
  try {
    crew = await raiseCrew(
      {
        runId,
        plan,
        entries,
        module: TRIGGER_MODULE,
        checkpointDir: null,
        resume: null,
        onEvent: hear,
        onDeath: () => undefined,
        onStats: () => undefined,
      },
      seams,
    );
    const raised = crew;
    await raised.growTo(0);
    if (mirror !== null) {
      const counts = { tier: 0, envs: ENVS, live: ENVS, quarantined: 0, samplingSps: 0, trainingSps: 0 };
      const facts = { runId, plan: 'claims', pid: process.pid, startedAt: new Date().toISOString(), phase: 'measuring', ...counts };
      timer = setInterval(() => {
        const { workers, suspended } = raised.health();
        const info = { ...facts, at: new Date().toISOString(), restarts: raised.restarts, suspended };
        mirror.offer({ info, workers: workers.map(workerBeat) });
      }, MIRROR_EVERY_MS);
    }
    return {
      crew: raised,
      trigger,
      pid: (worker) => raised.health().workers[worker]?.pid ?? Number.NaN,
      envOf: (worker) => specs.get(worker)?.blocks[0]?.firstEnvId ?? Number.NaN,
      noticedMs(worker, sinceMs) {
        const said = ({ type, detail }: CrewEvent): boolean =>
          watcher === 'account' ? type === 'worker-suspect' && detail?.['mode'] === 'account' : type === 'worker-died';
        return events.find((event) => event.worker === worker && event.ms >= sinceMs && said(event))?.ms;
      },
      deathsSince: (ms) => events.filter((event) => event.type === 'worker-died' && event.ms >= ms).length,
      steady: (limitMs) => isSteady(raised, store, watcher, times, limitMs),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function isSteady(crew: Crew, store: StateStore, watcher: Watcher, times: HeartbeatTimes, limitMs: number): Promise<boolean> {
  const before = Float64Array.from(crew.envFrames());
  return until(async () => {
    const { workers } = crew.health();
    if (workers.some(({ pid, verdict }) => pid === null || verdict === 'dead' || verdict === 'starting')) return false;
    if (!crew.envFrames().every((frames, env) => frames > (before[env] as number))) return false;
    if (watcher === 'progress') return true;
    const beats = await store.readBeats().catch(() => new Map<number, number>());
    // A heart that lost Redis beats again within a second of its return.
    const freshMs = Math.max(2 * times.beatS, 1.5) * 1000;
    return workers.every(({ worker }) => Date.now() - (beats.get(worker) ?? 0) < freshMs);
  }, limitMs);
}
