// Raises the processes of one run: plans the blocks, makes the shared memory, starts learner and workers, waits until all are ready, and
// hands the ladder a Crew. Everything it made is gone when `stop` resolves, or when it throws.
import { availableParallelism } from 'node:os';
import { EnvladderError } from '../contract/errors.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Memory, Segment } from '../memory/interface.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { planBlocks } from './block-plan.js';
import { openSeatCgroups, type SeatCgroups } from './cgroup.js';
import { monotonicMs } from './clock.js';
import type { Crew, CrewEnd, CrewHealth, CrewOptions } from './crew.js';
import { createCrewCommands } from './crew-commands.js';
import { lookAtHealth } from './crew-health.js';
import type { CrewPorts, LearnerChild, WorkerChild } from './crew-ports.js';
import { createCrewScan } from './crew-scan.js';
import { type CrewStop, stopCrew } from './crew-stop.js';
import { watchCrew } from './crew-watch.js';
import { deferred } from './deferred.js';
import { createDormantSeats, signalGroup } from './dormant-seats.js';
import { createEnvEvents } from './env-events.js';
import { readEnvFrames } from './env-frames.js';
import { createEnvStateReader, type EnvStateReader } from './env-states.js';
import { createFreshSegments } from './fresh-segment.js';
import { createHealthCounts } from './health-counts.js';
import { createLaunchers } from './launchers.js';
import { createLearnerPost } from './learner-post.js';
import type { CrewDetector, WorkerPost } from './post.js';
import { rangeLost } from './range-lost.js';
import { readRoleMemory } from './role-memory.js';
import { createRunBudget } from './run-budget.js';
import { createScheduling, KERNEL } from './scheduling.js';
import { createStartGate } from './start-gate.js';
import { startTier } from './tier-start.js';
import { createWorkerPost } from './worker-post.js';

/** What tests and chaos replace. */
export interface CrewSeams {
  readonly memory?: Memory;
  readonly workerEntry?: URL;
  readonly learnerEntry?: URL;
  readonly cgroups?: SeatCgroups;
  /** Stands between the supervisor and a worker: withheld signals, deaths that are none. */
  readonly wrapWorker?: (child: WorkerChild, worker: number) => WorkerChild;
  readonly wrapLearner?: (child: LearnerChild) => LearnerChild;
  readonly confirmMs?: number;
  readonly random?: () => number;
  readonly detector?: CrewDetector;
}

/** A start that failed is cleared away with this little patience. */
const FAILED_START_DRAIN_MS = 1000;
/** SIGKILL takes effect at once unless the process is in an uninterruptible wait; after this long it is taken to be in one. */
const CONFIRM_MS = 15_000;

/**
 * Starts learner and workers of `options.plan` and resolves when all are ready; no env runs before `growTo(0)`. Rejects with the error
 * a child reported (`bad-module`, `backend-missing`, ...), `worker-died` or `learner-died`; then nothing of it is left.
 */
export async function raiseCrew(options: CrewOptions, seams: CrewSeams = {}): Promise<Crew> {
  const { plan } = options;
  const { health } = plan;
  if (health.mode === 'account' && seams.detector === undefined) {
    throw new EnvladderError(
      'bad-plan',
      'health.mode account decides by Redis heartbeats: give the plan a redis part, or leave the mode at progress',
    );
  }
  const beganMs = monotonicMs();
  const { segments: planned, groups } = planBlocks(options.runId, plan, options.entries);
  const envs = plan.tiers.at(-1)?.envs ?? 0;
  const memory = seams.memory ?? createNativeMemory();
  const workers = planned.length;
  const failed = deferred<Error>();
  const down = deferred<void>();
  const control = memory.createControl(workers + 1);
  const errors = memory.createErrors(workers + 1);
  const segments: Segment[] = planned.map(({ spec }) => memory.createSegment(spec));
  const cgroups = seams.cgroups ?? openSeatCgroups({ runId: options.runId });
  const dormant = createDormantSeats({ progress: control.progress, nowMs: monotonicMs, signal: signalGroup });
  const processes = new Set(planned.map(({ host }) => host)).size;
  const scheduling = createScheduling({ plan: plan.scheduling, processes, calls: KERNEL, emit: options.onEvent });
  const counts = createHealthCounts(envs);
  const posts: WorkerPost[] = [];
  let shmBytes = 0;
  let ending: CrewStop | null = null;
  let end: Promise<CrewEnd> | null = null;
  let closed = false;

  const envEvents = createEnvEvents({ emit: options.onEvent, now: monotonicMs, later: (call, ms) => void setTimeout(call, ms).unref() });
  const ports: CrewPorts = {
    options,
    memory,
    control,
    errors,
    counts,
    envEvents,
    workers,
    ...createLaunchers({
      planned,
      control,
      errors,
      scheduling,
      segmentOf: (worker) => segments[worker] as Segment,
      workerEntry: seams.workerEntry,
      learnerEntry: seams.learnerEntry,
      wrapWorker: seams.wrapWorker,
      wrapLearner: seams.wrapLearner,
    }),
    cgroupOf(worker) {
      const seat = planned[worker];
      return seat?.executor === 'process' ? cgroups.seat(seat.host) : null;
    },
    runBudget: createRunBudget(health.runBudget),
    gate: createStartGate(Math.max(2, availableParallelism())),
    random: seams.random ?? Math.random,
    confirmMs: seams.confirmMs ?? CONFIRM_MS,
    emit: options.onEvent,
    die: (death) => options.onDeath({ ...death, run_s: (monotonicMs() - beganMs) / 1000 }),
    fail: (error) => {
      if (!failed.settled) failed.resolve(error);
    },
  };
  if (cgroups.degraded !== null) options.onEvent({ type: 'scheduling', message: cgroups.degraded, detail: { cgroups: 'degraded' } });
  const learner = createLearnerPost({ ports, planned, segments: () => segments });
  const fresh = createFreshSegments({ memory, segments, learner });
  for (const [worker, seat] of planned.entries()) {
    posts.push(
      createWorkerPost({
        ports,
        planned: seat,
        segment: segments[worker] as Segment,
        onLost: (post) => rangeLost(post, posts, learner, ports),
        makeFresh: fresh.make,
        onFresh: fresh.handOver,
      }),
    );
  }
  /** Made when somebody asks: most runs are not watched. */
  let states: EnvStateReader | null = null;
  const scanner = createCrewScan(posts);
  const watch = watchCrew({
    posts,
    learner,
    control,
    health,
    judges: health.mode === 'progress',
    cgroupOf: ports.cgroupOf,
    isAsleep: dormant.has,
    emit: ports.emit,
  });
  seams.detector?.start(posts);
  // A learner that is gone for good leaves workers with nobody to answer them.
  void failed.promise.then(() => {
    dormant.wakeAll();
    for (const post of posts) post.stop();
  });

  const lookAt = (): CrewHealth =>
    lookAtHealth({ posts, learner, control, counts, verdictOf: watch.verdictOf, suspended: () => watch.suspended });
  const readErrors = (): ReturnType<Crew['errors']> => Array.from({ length: workers + 1 }, (_, line) => errors.read(line));
  let lastHealth: CrewHealth | null = null; // as they were when the memory went
  let lastErrors: ReturnType<Crew['errors']> | null = null;

  async function bringDown(stop: CrewStop): Promise<CrewEnd> {
    const killed = await stop.done;
    down.resolve();
    watch.end();
    seams.detector?.stop();
    envEvents.flush();
    const counted = scanner.scan();
    lastHealth = lookAt();
    lastErrors = readErrors();
    closed = true;
    for (const segment of fresh.all()) segment.close();
    errors.close();
    control.close();
    if (seams.cgroups === undefined) cgroups.close();
    return { snapshot: learner.last, scan: counted, killed };
  }

  function stop(drainMs: number): Promise<CrewEnd> {
    dormant.wakeAll();
    if (ending !== null) ending.hurry(drainMs);
    else ending = stopCrew(learner, posts, drainMs);
    end ??= bringDown(ending);
    return end;
  }

  const [first] = await Promise.all([learner.ready, ...posts.map((post) => post.ready)]).catch(async (error: unknown) => {
    await stop(FAILED_START_DRAIN_MS);
    throw error;
  });
  scheduling.announce();
  return {
    backend: first.backend,
    backendVersion: first.backendVersion,
    resumedFrom: first.resumedFrom,
    get restarts() {
      return posts.reduce((sum, post) => sum + post.restarts, 0);
    },
    failed: failed.promise,
    growTo: (tier) =>
      startTier({
        tier,
        groups,
        plan: plan.groups,
        posts,
        learner,
        dormants: dormant,
        cgroupOf: ports.cgroupOf,
        emit: ports.emit,
        deadlineSeconds: plan.startDeadlineSeconds,
        over: () => failed.settled || ending !== null,
        onAllocated: (bytes) => {
          shmBytes += bytes;
        },
      }),
    measure(tier): Promise<LearnerSnapshot> {
      learner.send({ type: 'measure', tier });
      return learner.snapshot();
    },
    snapshot: learner.snapshot,
    scan: () => (closed ? scanner.last : scanner.scan()),
    envFrames: () => (closed ? new Float64Array(0) : readEnvFrames(posts, envs)),
    envStates() {
      states ??= createEnvStateReader(posts, envs, monotonicMs);
      return closed ? states.last : states.read();
    },
    memory: () => readRoleMemory({ supervisor: [process.pid], learner: [learner.pid], worker: posts.map((post) => post.pid) }),
    shmBytes: () => shmBytes,
    checkpoint: (reason) => learner.send({ type: 'checkpoint', reason }),
    health: () => lastHealth ?? lookAt(),
    memoryMaxBytes: (worker) => ports.cgroupOf(worker)?.read().memoryMaxBytes ?? null,
    errors: () => lastErrors ?? readErrors(),
    obey: createCrewCommands({
      posts,
      learner,
      envEvents,
      writesCheckpoints: plan.learner === 'ppo' && options.checkpointDir !== null,
      health: lookAt,
      emit: ports.emit,
      ended: down.promise,
      over: () => (closed || ending !== null || failed.settled ? 'the run is ending: it obeys no more' : null),
    }),
    stop,
  };
}
