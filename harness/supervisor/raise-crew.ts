// Raises the processes of one run: plans the blocks, makes the shared memory, forks learner and workers, waits until all are ready, and
// hands the ladder a Crew. Everything it made is gone when `stop` resolves, or when it throws.
import { EnvladderError } from '../contract/errors.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Memory } from '../memory/interface.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { planBlocks, specOf } from './block-plan.js';
import { monotonicMs } from './clock.js';
import type { Crew, CrewEnd, CrewOptions, CrewScan } from './crew.js';
import { lookAtHealth } from './crew-health.js';
import type { CrewPorts } from './crew-ports.js';
import { type CrewStop, stopCrew } from './crew-stop.js';
import { watchCrew } from './crew-watch.js';
import { deferred } from './deferred.js';
import { readEnvFrames } from './env-frames.js';
import { createEnvStateReader, type EnvStateReader } from './env-states.js';
import { createHealthCounts } from './health-counts.js';
import { createLearnerPost } from './learner-post.js';
import { readRoleMemory } from './role-memory.js';
import { entryUrl } from './spawn.js';
import { startTier } from './tier-start.js';
import { createWorkerPost, type WorkerPost } from './worker-post.js';

/** What tests replace. */
export interface CrewSeams {
  readonly memory?: Memory;
  readonly workerEntry?: URL;
  readonly learnerEntry?: URL;
}

/** A start that failed is cleared away with this little patience. */
const FAILED_START_DRAIN_MS = 1000;

/**
 * Starts learner and workers of `options.plan` and resolves when all are ready; no env runs before `growTo(0)`. Rejects with the error
 * a child reported (`bad-module`, `backend-missing`, ...), `worker-died` or `learner-died`; then nothing of it is left.
 */
export async function raiseCrew(options: CrewOptions, seams: CrewSeams = {}): Promise<Crew> {
  const { plan } = options;
  const beganMs = monotonicMs();
  const layout = planBlocks(options.runId, plan, options.entries);
  const memory = seams.memory ?? createNativeMemory();
  const workers = layout.segments.length;
  const failed = deferred<Error>();
  const control = memory.createControl(workers + 1);
  const errors = memory.createErrors(workers + 1);
  const seats = layout.segments.map((planned) => ({ planned, segment: memory.createSegment(planned.spec) }));
  const counts = createHealthCounts(plan.tiers.at(-1)?.envs ?? 0);
  let shmBytes = 0;
  let ending: CrewStop | null = null;
  let end: Promise<CrewEnd> | null = null;
  let closed = false;

  const ports: CrewPorts = {
    options,
    memory,
    control,
    errors,
    counts,
    workers,
    workerEntry: seams.workerEntry ?? entryUrl('../worker/entry'),
    learnerEntry: seams.learnerEntry ?? entryUrl('../learner/entry'),
    emit: options.onEvent,
    die: (death) => options.onDeath({ ...death, run_s: (monotonicMs() - beganMs) / 1000 }),
    fail: (error) => {
      if (!failed.settled) failed.resolve(error);
    },
  };
  const learner = createLearnerPost({ ports, segments: seats });
  const posts: WorkerPost[] = seats.map(({ planned, segment }, worker) => createWorkerPost({ ports, worker, planned, segment, onLost }));
  /** Made when somebody asks: most runs are not watched. */
  let states: EnvStateReader | null = null;
  function envStates(): Uint8Array {
    states ??= createEnvStateReader(posts, plan.tiers.at(-1)?.envs ?? 0, monotonicMs);
    return closed ? states.last : states.read();
  }
  const unwatch = watchCrew({ posts, control, deadlineSeconds: plan.stepDeadlineSeconds, emit: ports.emit });
  // A learner that died leaves workers with nobody to answer them.
  void failed.promise.then(() => {
    for (const post of posts) post.stop();
  });

  function onLost(post: WorkerPost): void {
    const envs = post.blocks.reduce((sum, block) => sum + specOf(post.planned, block).slots, 0);
    options.onEvent({
      type: 'range-lost',
      message: `worker ${post.worker} does not come back: ${envs} envs are lost, the run goes on with ${posts.filter(({ state }) => state !== 'lost').length} of ${posts.length} workers`,
      worker: post.worker,
      detail: { envs, blocks: [...post.blocks], restarts: post.restarts },
    });
    learner.drop(post.worker);
    if (posts.every(({ state }) => state === 'lost'))
      ports.fail(new EnvladderError('worker-died', `all ${posts.length} workers are lost; see the deaths in the record`));
  }

  let lastScan: CrewScan = { published: 0, taken: 0, live: 0, quarantined: 0 };
  function scan(): CrewScan {
    if (closed) return lastScan;
    const sum = { published: 0, taken: 0, live: 0, quarantined: 0 };
    for (const post of posts) {
      for (const block of post.blocks) {
        const one = post.segment.scan(block);
        sum.published += one.published;
        sum.taken += one.taken;
        sum.quarantined += one.quarantined;
        // Envs of a lost range have frames, but nobody steps them any more.
        if (post.state !== 'lost') sum.live += one.live;
      }
    }
    lastScan = sum;
    return sum;
  }

  async function bringDown(stop: CrewStop): Promise<CrewEnd> {
    const killed = await stop.done;
    unwatch();
    const counts = scan();
    closed = true;
    for (const { segment } of seats) segment.close();
    errors.close();
    control.close();
    return { snapshot: learner.last, scan: counts, killed };
  }

  function stop(drainMs: number): Promise<CrewEnd> {
    if (ending !== null) ending.hurry(drainMs);
    else ending = stopCrew(learner, posts, drainMs);
    end ??= bringDown(ending);
    return end;
  }

  let first: Awaited<typeof learner.ready>;
  try {
    [first] = await Promise.all([learner.ready, ...posts.map((post) => post.ready)]);
  } catch (error) {
    await stop(FAILED_START_DRAIN_MS);
    throw error;
  }

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
        posts,
        learner,
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
    scan,
    envFrames: () => (closed ? new Float64Array(0) : readEnvFrames(posts, plan.tiers.at(-1)?.envs ?? 0)),
    envStates,
    memory: () => readRoleMemory({ supervisor: [process.pid], learner: [learner.pid], worker: posts.map((post) => post.pid) }),
    shmBytes: () => shmBytes,
    health: () =>
      lookAtHealth({
        posts,
        learner,
        control,
        counts,
        verdictOf: (worker) => (posts[worker]?.state === 'up' ? 'ok' : 'starting'),
        suspended: () => null,
      }),
    errors: () => (closed ? [] : Array.from({ length: workers + 1 }, (_, line) => errors.read(line))),
    obey: async ({ id, command }) => ({ id, ok: false, message: `${command} is not known here` }),
    checkpoint: (reason) => learner.send({ type: 'checkpoint', reason }),
    stop,
  };
}
