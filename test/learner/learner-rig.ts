// Learners in this process over the in-memory twin, with envs stepped by hand: the memory outlives every learner, so a test can let one die
// in the middle of a batch and start the next on what it left. The envs count: observation [env, step], episodes of 5 to 9 steps.
import type { TestContext } from 'node:test';
import { twinChannels } from '../../harness/bus/twin-channel.js';
import { ABANDONED, FIRST, TERMINATED } from '../../harness/contract/frame-flags.js';
import type { EntryMessage, FromLearner, LearnerStart, ToLearner } from '../../harness/contract/messages.js';
import type { LearnerSnapshot } from '../../harness/contract/snapshot.js';
import type { Spaces } from '../../harness/contract/spaces.js';
import { openBackend } from '../../harness/learner/backends.js';
import { type LearnerPorts, runLearner } from '../../harness/learner/run-learner.js';
import type { BlockWriter, Memory, Segment, SegmentSpec } from '../../harness/memory/interface.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { until } from '../fixtures/until.js';
import { tinyPpo } from './tiny-rig.js';

export const BLOCK_SLOTS = 6;
const SPACES: Spaces = {
  observation: { obs: { dtype: 'f32', shape: [2], low: -1e6, high: 1e6 } },
  action: { type: 'discrete', n: 2 },
};
const ENTRY: EntryMessage = {
  name: 'counting',
  kind: 'counting',
  config: {},
  spaces: SPACES,
  isolation: 'inline',
  deadlines: { construct: 30, reset: 30, step: 30, close: 30 },
};

/** A life's end in the middle of things: thrown by the reader's `act`. */
const KILLED = 'killed by the test';

export interface Life {
  readonly heard: FromLearner[];
  send(message: ToLearner): void;
  /** Settles with run-learner. */
  readonly done: Promise<void>;
  /** Rejects with what ended it. */
  ready(): Promise<void>;
  snapshot(): Promise<LearnerSnapshot>;
  stop(): Promise<LearnerSnapshot>;
  /** Lets it die, `acts` answers from now, between taking frames and answering them. */
  dieAfter(acts: number): Promise<void>;
}

/** Frames that the snapshot's fates do not explain. */
export function unexplained(snapshot: LearnerSnapshot): number {
  const { taken, trained, evaluated, superseded, pending, dropped } = snapshot;
  return taken - trained - evaluated - superseded - pending - Object.values(dropped).reduce((sum, count) => sum + count, 0);
}

export function createLearnerRig(test: TestContext, blocks = 2, memory = createTwinMemory()) {
  const spec: SegmentSpec = {
    runId: 'lives',
    worker: 0,
    blocks: Array.from({ length: blocks }, (_, id) => ({
      id,
      kind: 'counting',
      firstEnvId: 100 + id * BLOCK_SLOTS,
      slots: BLOCK_SLOTS,
      cells: 2,
      keys: [{ key: 'obs', dtype: 'f32', elements: 2, shape: [2], low: -1e6, high: 1e6 }],
      action: { dtype: 'i32', length: 1 },
      autoreset: 'next-step',
    })),
  };
  const errors = memory.createErrors(2);
  const control = memory.createControl(2);
  memory.bindControl(control);
  let segment = memory.createSegment(spec);
  const writers = new Map<number, BlockWriter>();
  const steps = new Map<number, number>();
  /** Blocks as a worker of `epoch` finds them. */
  const openBlock = (block: number, epoch: number): void => {
    segment.allocate(block, 1);
    const writer = segment.writer(block, epoch);
    for (let slot = 0; slot < BLOCK_SLOTS; slot++) writer.activate(slot);
    writers.set(block, writer);
  };
  for (let block = 0; block < blocks; block++) openBlock(block, 0);

  const workBlock = (writer: BlockWriter): number => {
    if (writer.claim(BLOCK_SLOTS) === 0) return 0;
    const { range, spec: own } = writer;
    const write = (slot: number, step: number, flags: number): void => {
      const envId = own.firstEnvId + slot;
      steps.set(envId, step);
      writer.views(slot, (range.cell[slot] as number) % own.cells).obs?.set([envId, step]);
      range.reward[slot] = step === 0 ? 0 : 1;
      range.flags[slot] = flags;
    };
    for (let r = 0; r < writer.runCount; r++) {
      const first = writer.runs[2 * r] as number;
      for (let slot = first; slot < first + (writer.runs[2 * r + 1] as number); slot++) {
        const step = (steps.get(own.firstEnvId + slot) ?? 0) + 1;
        write(slot, step, step === 5 + (slot % 5) ? TERMINATED : 0);
      }
    }
    for (let r = 0; r < writer.resetCount; r++) {
      const slot = writer.resets[r] as number;
      write(slot, 0, writer.wasAbandoned(slot) ? FIRST | ABANDONED : FIRST);
    }
    return writer.publish('full');
  };
  /** One round over every block that has a worker. */
  const work = (): number => [...writers.values()].reduce((sum, writer) => sum + workBlock(writer), 0);
  const worker = setInterval(work, 1);
  test.after(() => clearInterval(worker));

  const startMessage = (over: Partial<LearnerStart> = {}): LearnerStart => ({
    type: 'start',
    role: 'learner',
    runId: 'lives',
    parentPid: process.pid,
    workers: 1,
    controlFd: -1,
    errorsFd: -1,
    seed: 1,
    autoreset: 'next-step',
    entries: [ENTRY],
    mode: 'ppo',
    backend: 'wasm',
    segments: [{ spec: spec as unknown as Record<string, unknown>, fd: -1, blockEntries: spec.blocks.map(() => 0) }],
    ppo: tinyPpo({ horizon: 4, epochs: 1, readyShare: 0.5 }),
    checkpointDir: null,
    stepPeriodMs: 0,
    resume: null,
    life: 0,
    base: null,
    adopt: [],
    ...over,
  });

  const live = (over: Partial<LearnerStart> = {}, ports: Partial<LearnerPorts> = {}): Life => {
    let actsLeft = Number.POSITIVE_INFINITY;
    const mortal: Memory = {
      ...memory,
      // The page is everybody's here: it outlives this learner.
      attachControl: () => ({ ...control, close: () => undefined }),
      reader(options, bell) {
        const reader = memory.reader(options, bell);
        return Object.create(reader, {
          act: {
            value: (count: number, rows: Int32Array, actions: Int32Array | Float32Array) => {
              if (actsLeft-- <= 0) throw new Error(KILLED);
              reader.act(count, rows, actions);
            },
          },
        });
      },
    };
    const { left, right } = twinChannels<ToLearner, FromLearner>();
    const heard: FromLearner[] = [];
    left.onMessage((message) => heard.push(message));
    const done = runLearner(startMessage(over), {
      memory: mortal,
      channel: right,
      openBackend,
      nowMs: () => Number(process.hrtime.bigint()) / 1e6,
      gatherThreads: 1,
      ...ports,
    });
    done.catch(() => undefined);
    test.after(async () => {
      left.send({ type: 'stop', deadlineMs: 1000 });
      await Promise.allSettled([done]);
    });
    let asked = 0;
    const saidOf = <Type extends FromLearner['type']>(type: Type) =>
      heard.filter((message): message is Extract<FromLearner, { type: Type }> => message.type === type);
    return {
      heard,
      send: left.send,
      done,
      async ready() {
        await Promise.race([done, until(() => saidOf('ready').length > 0)]);
        if (saidOf('ready').length === 0) throw new Error('the learner ended before it was ready');
      },
      async snapshot() {
        const id = ++asked;
        left.send({ type: 'snapshot', id });
        const found = () => saidOf('snapshot').find((message) => message.id === id);
        await until(() => found() !== undefined);
        return (found() as Extract<FromLearner, { type: 'snapshot' }>).snapshot;
      },
      async dieAfter(acts) {
        actsLeft = acts;
        const ended = await done.then(
          () => 'stopped',
          (error: unknown) => (error as Error).message,
        );
        if (ended !== KILLED) throw new Error(`the learner was to be killed, but it ended by itself: ${ended}`);
      },
      async stop() {
        left.send({ type: 'stop', deadlineMs: 10_000 });
        await done;
        await until(() => saidOf('stopped').length > 0);
        return (saidOf('stopped')[0] as Extract<FromLearner, { type: 'stopped' }>).snapshot;
      },
    };
  };

  return {
    control,
    errors,
    live,
    startMessage,
    writer: (block: number) => writers.get(block) as BlockWriter,
    segment: () => segment,
    allBlocks: spec.blocks.map(({ id }) => [0, id] as const),
    /** The block's worker is gone for good. */
    abandon: (block: number) => void writers.delete(block),
    /** What a supervisor does when the death of the worker cannot be confirmed: a new segment, a new worker on it. */
    moveTo(epoch: number): Segment {
      const old = segment;
      writers.clear();
      segment = memory.createSegment(spec);
      for (let block = 0; block < blocks; block++) segment.allocate(block, 1);
      segment.takeOver(old, epoch);
      return old;
    },
    openBlock,
    /** Sum over all blocks. */
    scan: () =>
      spec.blocks
        .map(({ id }) => segment.scan(id))
        .reduce((sum, { published, taken }) => ({ published: sum.published + published, taken: sum.taken + taken }), {
          published: 0,
          taken: 0,
        }),
  };
}
