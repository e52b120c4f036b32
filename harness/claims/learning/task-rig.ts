// One learner and its envs in this process, over the in-memory twin and stepped by hand: no clock, no other process, so equal seeds give equal
// runs bit by bit and all sides of a claim do the same number of steps. The learner's side is the code that runs in a real learner. Each
// task is a mix entry with as many envs as the others; all share one policy.

import { seededRandom } from '../../chaos/seeded-random.js';
import { DONE, FIRST } from '../../contract/frame-flags.js';
import type { EntryMessage, LearnerStart } from '../../contract/messages.js';
import type { PpoConfig } from '../../contract/ppo-config.js';
import type { Spaces } from '../../contract/spaces.js';
import type { Backend } from '../../learner/backends.js';
import { createBalance } from '../../learner/balance.js';
import { createEnvStatsTable } from '../../learner/env-stats.js';
import { createEpisodeStats } from '../../learner/episode-stats.js';
import { makeGroup } from '../../learner/make-group.js';
import { createPhaseClock } from '../../learner/phase-clock.js';
import type { Policy } from '../../learner/policy.js';
import type { BlockWriter, SegmentSpec } from '../../memory/interface.js';
import { createTwinMemory } from '../../memory/twin-memory.js';
import { ACTIONS, FEATURES, resetTask, stepTask, type Task, type TaskState } from './task.js';

export interface TaskRigOptions {
  readonly tasks: readonly Task[];
  readonly envsPerTask: number;
  readonly ppo: PpoConfig;
  readonly seed: number;
  readonly backend: Backend;
}

export interface TaskRig {
  readonly policy: Policy;
  /** Frames taken by the learner so far, and those of them with a known fate: equal when the books balance. */
  readonly frames: () => { readonly taken: number; readonly accounted: number };
  readonly losses: () => Readonly<Record<string, number>>;
  /** Steps and trains until one more update is done. */
  update(): Promise<void>;
  close(): void;
}

/** Columns of an observation: one per task, then the task's own. */
export function observationSize(tasks: number): number {
  return tasks + FEATURES;
}

export function showTask(tasks: readonly Task[], index: number, state: TaskState, into: Float32Array, at: number): void {
  for (let i = 0; i < tasks.length; i++) into[at + i] = i === index ? 1 : 0;
  (tasks[index] as Task).show(state, into, at + tasks.length);
}

/** Lets other work of this process in after this many rounds. */
const ROUNDS_PER_TURN = 64;

export function createTaskRig({ tasks, envsPerTask, ppo, seed, backend }: TaskRigOptions): TaskRig {
  const size = observationSize(tasks.length);
  const observation: Spaces['observation'] = { obs: { dtype: 'f32', shape: [size], low: -1, high: 1 } };
  const spaces: Spaces = { observation, action: { type: 'discrete', n: ACTIONS } };
  const spec: SegmentSpec = {
    runId: 'claim',
    worker: 0,
    blocks: tasks.map(({ name }, id) => ({
      id,
      kind: name,
      firstEnvId: id * envsPerTask,
      slots: envsPerTask,
      cells: 2,
      keys: [{ key: 'obs', dtype: 'f32', elements: size, shape: [size], low: -1, high: 1 }],
      action: { dtype: 'i32', length: 1 },
      autoreset: 'next-step',
    })),
  };
  const deadlines = { construct: 30, reset: 30, step: 30, close: 30 };
  const entries = tasks.map(({ name }): EntryMessage => ({ name, kind: name, config: {}, spaces, isolation: 'inline', deadlines }));
  const start: LearnerStart = {
    type: 'start',
    role: 'learner',
    runId: 'claim',
    parentPid: process.pid,
    workers: 1,
    controlFd: -1,
    errorsFd: -1,
    seed,
    autoreset: 'next-step',
    entries,
    mode: 'ppo',
    backend: 'auto',
    segments: [{ spec: spec as unknown as Record<string, unknown>, fd: -1, blockEntries: tasks.map((_, i) => i) }],
    ppo,
    checkpointDir: null,
    stepPeriodMs: 0,
    resume: null,
    life: 0,
    base: null,
    adopt: [],
  };
  const memory = createTwinMemory();
  const control = memory.createControl(2);
  memory.bindControl(control);
  const segment = memory.createSegment(spec);
  const balance = createBalance();
  const policies: Policy[] = [];
  let ticks = 0;
  const group = makeGroup(
    {
      start,
      memory,
      control,
      balance,
      clock: createPhaseClock(() => ticks++),
      stats: entries.map(() => createEpisodeStats()),
      envStats: createEnvStatsTable(),
      backend,
      gatherThreads: 1,
      pause: () => Promise.resolve(),
      onPolicy: (policy) => policies.push(policy),
      onBadUpdate: (message, cause) => {
        throw new Error(message, { cause });
      },
      onUnusable: (envId) => {
        throw new Error(`env ${envId} published an observation that is no number`);
      },
      faults: null,
    },
    entries[0] as EntryMessage,
  );
  const writers = tasks.map((_, block): BlockWriter => {
    segment.allocate(block, 1);
    const writer = segment.writer(block, 0);
    for (let slot = 0; slot < envsPerTask; slot++) writer.activate(slot);
    group.add(segment, block, block);
    return writer;
  });
  const states = tasks.map((_, t) =>
    Array.from(
      { length: envsPerTask },
      (_, slot): TaskState => ({ step: 0, place: 0, random: seededRandom(seed, 1 + t * envsPerTask + slot) }),
    ),
  );

  /** One round over the leased slots of a task; returns the frames published. */
  const work = (index: number): number => {
    const task = tasks[index] as Task;
    const writer = writers[index] as BlockWriter;
    if (writer.claim(envsPerTask) === 0) return 0;
    const { range } = writer;
    const show = (slot: number, state: TaskState): void => {
      const cell = (range.cell[slot] as number) % writer.spec.cells;
      showTask(tasks, index, state, writer.views(slot, cell)['obs'] as Float32Array, 0);
    };
    for (let r = 0; r < writer.runCount; r++) {
      const first = writer.runs[2 * r] as number;
      for (let slot = first; slot < first + (writer.runs[2 * r + 1] as number); slot++) {
        const state = states[index]?.[slot] as TaskState;
        const { reward, flags } = stepTask(task, state, range.action[slot * range.actionStride] as number);
        range.reward[slot] = reward;
        range.flags[slot] = flags & DONE;
        show(slot, state);
      }
    }
    for (let r = 0; r < writer.resetCount; r++) {
      const slot = writer.resets[r] as number;
      const state = states[index]?.[slot] as TaskState;
      resetTask(task, state);
      range.flags[slot] = FIRST;
      show(slot, state);
    }
    return writer.publish('off');
  };

  return {
    policy: policies[0] as Policy,
    frames: () => {
      const { trained, evaluated, superseded, pending, dropped } = balance;
      const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
      return { taken: group.scan().taken, accounted: trained + evaluated + superseded + pending + lost };
    },
    losses: () => group.agent.losses,
    async update() {
      const target = group.agent.updates + 1;
      for (let round = 0; group.agent.updates < target; round++) {
        let moved = 0;
        for (let t = 0; t < tasks.length; t++) moved += work(t);
        for (let count = group.turn(); count > 0; count = group.turn()) moved += count;
        if (group.agent.updateDue) await group.agent.update(() => false);
        else if (moved === 0) throw new Error('envs and learner wait for each other');
        if (round % ROUNDS_PER_TURN === ROUNDS_PER_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
      }
    },
    close() {
      group.agent.dispose();
      segment.close();
      control.close();
    },
  };
}
