// The process bench's rig: one real env worker process and this process as the consumer, which collects every ready batch and answers
// with actions made before. No learner: what is measured is the way of a frame and nothing else.
import type { FromWorker, ToWorker, WorkerStart } from '../contract/messages.js';
import type { Control } from '../memory/control.js';
import type { BatchReader, Segment } from '../memory/interface.js';
import { createNativeMemory } from '../memory/native-memory.js';
import type { OutputSpec } from '../memory/reader-options.js';
import { planBlocks } from '../supervisor/block-plan.js';
import { CONTROL_CHILD_FD, ERRORS_CHILD_FD, entryUrl, FIRST_SEGMENT_FD, spawnChild } from '../supervisor/spawn.js';
import { cpuNsSince, threadCpuNs } from './cpu-load.js';
import { createRigPlan, type RigKind } from './rig-plan.js';

/** Longest sleep of the consumer while no frame is ready; bounds how far a window can overrun. */
const WAIT_FRAMES_MS = 20;
/** A worker that does not bring its envs up by then never will. */
const LIVE_DEADLINE_MS = 120_000;
/** A worker that does not stop by then is killed. */
const STOP_LIMIT_MS = 5000;

export interface RigOptions extends RigKind {
  readonly envs: number;
  readonly outputs: readonly OutputSpec[];
  /** Largest batch; half of the envs by default, so that the other half steps meanwhile. */
  readonly batchLimit?: number;
  readonly gatherThreads?: number;
  /** Absolute path of a module that exports the kind; left out: a built-in one. */
  readonly module?: string;
  /** `random`: 0 or 1 at random, from a ring made before; `constant` (0) by default. Discrete kinds only. */
  readonly actions?: 'constant' | 'random';
}

export interface Consumed {
  /** Frames taken: env calls, resets included. */
  readonly frames: number;
  /** Frames less the resets that follow an episode's end. */
  readonly steps: number;
  readonly batches: number;
  readonly seconds: number;
  readonly workerCpuNs: number;
  readonly consumerCpuNs: number;
  readonly bytesCopied: number;
}

export interface EnvRig {
  readonly workerPid: number;
  readonly segment: Segment;
  readonly reader: BatchReader;
  /** Seconds from the first line of `raiseEnvRig` to the first batch, and to the first frame of the last env. */
  readonly firstBatchS: number;
  readonly allLiveS: number;
  /** Messages of the worker so far, by type. They are heard between windows, when the event loop turns. */
  readonly messages: ReadonlyMap<string, number>;
  /** Collects and answers for `ms` milliseconds without a turn of the event loop. */
  consume(ms: number): Consumed;
  close(): Promise<void>;
}

function startMessage(
  rig: Awaited<ReturnType<typeof createRigPlan>>,
  segment: Segment,
  entryOf: readonly number[],
  module: string | null,
): WorkerStart {
  const { plan, entries } = rig;
  return {
    type: 'start',
    role: 'worker',
    runId: segment.spec.runId,
    parentPid: process.pid,
    workers: 1,
    controlFd: CONTROL_CHILD_FD,
    errorsFd: ERRORS_CHILD_FD,
    seed: plan.seed,
    autoreset: plan.autoreset,
    entries,
    worker: 0,
    epoch: 1,
    segment: segment.spec as unknown as WorkerStart['segment'],
    segmentFd: FIRST_SEGMENT_FD,
    check: plan.check,
    constructParallel: plan.constructParallel,
    module,
    blockEntries: entryOf,
    blocks: segment.spec.blocks.map((_, index) => index),
    barred: [],
    retired: [],
    slotBySlot: [],
    health: plan.health,
    failed: [],
  };
}

/** Arrays of random actions: as many as make an env's actions look random although batches come round in much the same order. */
const RANDOM_ARRAYS = 97;

/** What the consumer answers batch after batch, in a ring. */
function actionRing(action: { readonly dtype: string; readonly length: number }, rows: number, kind: RigOptions['actions']) {
  const create = (): Int32Array | Float32Array => new (action.dtype === 'i32' ? Int32Array : Float32Array)(rows * action.length);
  if (kind !== 'random') return [create()];
  return Array.from({ length: RANDOM_ARRAYS }, () => create().map(() => (Math.random() < 0.5 ? 0 : 1)));
}

/** Takes batches until `enough` says so; the heart of the consumer. */
function takeBatches(
  reader: BatchReader,
  control: Control,
  limit: number,
  ring: readonly (Int32Array | Float32Array)[],
  enough: () => boolean,
) {
  let frames = 0;
  let episodes = 0;
  let batches = 0;
  while (!enough()) {
    const count = reader.collect(limit);
    if (count === 0) {
      control.waitFrames(WAIT_FRAMES_MS);
      continue;
    }
    frames += count;
    episodes += reader.episodeCount;
    reader.act(count, reader.rowOf, ring[batches++ % ring.length] as Int32Array);
  }
  return { frames, episodes, batches };
}

/** Starts the worker and waits until every env has published its first frame. */
export async function raiseEnvRig(options: RigOptions): Promise<EnvRig> {
  const began = performance.now();
  const memory = createNativeMemory();
  const rig = await createRigPlan(options.envs, options, 'none', options.module === undefined ? [] : [options.module]);
  const planned = planBlocks(`bench-${process.pid}-${Math.floor(began)}`, rig.plan, rig.entries).segments[0];
  if (planned === undefined) throw new Error('the block plan has no segment');
  const control = memory.createControl(2);
  const errors = memory.createErrors(2);
  const segment = memory.createSegment(planned.spec);
  const blocks = planned.spec.blocks.map((_, index) => index);
  for (const block of blocks) segment.allocate(block, rig.plan.workers + 1);
  memory.bindControl(control);
  const batchLimit = options.batchLimit ?? Math.max(1, options.envs >> 1);
  const reader = memory.reader({ batchLimit, outputs: options.outputs, threads: options.gatherThreads ?? 1 }, control);
  for (const block of blocks) reader.add(segment, block);
  const action = planned.spec.blocks[0]?.action ?? { dtype: 'i32', length: 1 };
  const ring = actionRing(action, batchLimit, options.actions);

  const child = spawnChild<ToWorker, FromWorker>(entryUrl('../worker/entry'), [control.fd, errors.fd, segment.fd]);
  let dead = '';
  const messages = new Map<string, number>();
  child.channel.onMessage((message) => {
    messages.set(message.type, (messages.get(message.type) ?? 0) + 1);
    if (message.type === 'fatal') dead ||= message.message;
    if (message.type === 'env-failures') dead ||= message.failures[0]?.message ?? 'an env failed';
  });
  void child.exit.then((status) => {
    dead ||= `the worker ended: ${status.cause} ${status.outputTail}`;
  });
  child.channel.send(startMessage(rig, segment, planned.entryOf, options.module ?? null));

  async function close(): Promise<void> {
    child.channel.send({ type: 'stop' });
    const stopped = await Promise.race([child.exit, new Promise((late) => setTimeout(late, STOP_LIMIT_MS, null).unref())]);
    if (stopped === null) {
      child.kill('SIGKILL');
      await child.exit;
    }
    segment.close();
    errors.close();
    control.close();
  }

  const live = (): number => blocks.reduce((sum, block) => sum + segment.scan(block).live, 0);
  let firstBatchS = 0;
  while (live() < options.envs) {
    const late = performance.now() - began > LIVE_DEADLINE_MS;
    if (dead !== '' || late) {
      const found = live();
      await close();
      throw new Error(`bench worker (${options.kind}): ${dead === '' ? `${found} of ${options.envs} envs live in time` : dead}`);
    }
    // A turn of the event loop lets the start message leave and a death be heard.
    await new Promise((turn) => setImmediate(turn));
    let rounds = 0;
    const { batches } = takeBatches(reader, control, batchLimit, ring, () => rounds++ > 0);
    if (batches > 0) firstBatchS ||= (performance.now() - began) / 1000;
  }
  const allLiveS = (performance.now() - began) / 1000;
  // All may come alive between two looks; then the first batch is there now, not yet taken.
  firstBatchS ||= allLiveS;
  const workerPid = child.pid ?? 0;

  return {
    workerPid,
    segment,
    reader,
    firstBatchS,
    allLiveS,
    messages,
    consume(ms) {
      const bytesBefore = reader.stats.bytesCopied;
      const workerBefore = threadCpuNs(workerPid);
      const consumerBefore = threadCpuNs(process.pid);
      const start = performance.now();
      const end = start + ms;
      const { frames, episodes, batches } = takeBatches(reader, control, batchLimit, ring, () => performance.now() >= end);
      const seconds = (performance.now() - start) / 1000;
      if (frames === 0) throw new Error(`bench worker (${options.kind}): no frame in ${ms} ms; ${dead || 'it is alive'}`);
      return {
        frames,
        steps: frames - episodes,
        batches,
        seconds,
        workerCpuNs: cpuNsSince(workerPid, workerBefore),
        consumerCpuNs: cpuNsSince(process.pid, consumerBefore),
        bytesCopied: reader.stats.bytesCopied - bytesBefore,
      };
    },
    close,
  };
}
