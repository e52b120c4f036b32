// A learner group and a worker in one process over the in-memory twin, stepped by hand: no event loop, no clock, no chance. The worker
// side follows the interface of harness/memory to the letter, the learner side is the real code.

import { type AutoresetMode, DONE, FINAL, FIRST } from '../../harness/contract/frame-flags.js';
import type { LearnerStart } from '../../harness/contract/messages.js';
import { type PpoConfig, ppoSchema } from '../../harness/contract/ppo-config.js';
import { actionElements, elementCount, type Spaces } from '../../harness/contract/spaces.js';
import type { Backend } from '../../harness/learner/backends.js';
import { createBalance } from '../../harness/learner/balance.js';
import { createEnvStatsTable } from '../../harness/learner/env-stats.js';
import { createEpisodeStats } from '../../harness/learner/episode-stats.js';
import { makeGroup } from '../../harness/learner/make-group.js';
import { createPhaseClock } from '../../harness/learner/phase-clock.js';
import type { Policy } from '../../harness/learner/policy.js';
import { injectFault, type TestFault } from '../../harness/learner/test-fault.js';
import type { SegmentSpec } from '../../harness/memory/interface.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';

export interface TinyEnv {
  readonly spaces: Spaces;
  /** Writes the first observation of env `i`. */
  reset(i: number, obs: Float32Array): void;
  /** Steps env `i`; returns reward and TERMINATED | TRUNCATED bits. */
  step(i: number, action: ArrayLike<number>, obs: Float32Array): { reward: number; flags: number };
}

export interface TinyRigOptions {
  readonly env: TinyEnv;
  readonly envs: number;
  readonly mode?: LearnerStart['mode'];
  readonly autoreset?: AutoresetMode;
  readonly ppo?: Partial<PpoConfig>;
  readonly seed?: number;
  readonly backend?: Backend | null;
  readonly fault?: TestFault | null;
}

/** Parameters of a learner that fits into a test: small nets, one minibatch. */
export function tinyPpo(ppo: Partial<PpoConfig> = {}): PpoConfig {
  return { ...ppoSchema.parse({}), hidden: [8], horizon: 4, minibatch: 64, readyShare: 1, ...ppo };
}

export function createTinyRig(options: TinyRigOptions) {
  const { env, envs, mode = 'ppo', autoreset = 'next-step', seed = 1, backend = null } = options;
  const key = Object.keys(env.spaces.observation)[0] as string;
  const box = env.spaces.observation[key] as Spaces['observation'][string];
  const { dtype, length } = actionElements(env.spaces.action);
  const spec: SegmentSpec = {
    runId: 'tiny',
    worker: 0,
    blocks: [
      {
        id: 0,
        kind: 'tiny',
        firstEnvId: 100,
        slots: envs,
        cells: 2,
        keys: [{ key, dtype: box.dtype, elements: elementCount(box.shape), shape: box.shape, low: box.low, high: box.high }],
        action: { dtype: dtype === 'f32' ? 'f32' : 'i32', length },
        autoreset,
      },
    ],
  };
  const memory = createTwinMemory();
  const control = memory.createControl(2);
  memory.bindControl(control);
  const segment = memory.createSegment(spec);
  segment.allocate(0, 1);
  const writer = segment.writer(0, 0);
  for (let slot = 0; slot < envs; slot++) writer.activate(slot);
  const deadlines = { construct: 30, reset: 30, step: 30, close: 30 };
  const entry = { name: 'tiny', kind: 'tiny', config: {}, spaces: env.spaces, isolation: 'inline', deadlines } as const;
  const start: LearnerStart = {
    type: 'start',
    role: 'learner',
    runId: 'tiny',
    parentPid: 1,
    workers: 1,
    controlFd: -1,
    errorsFd: -1,
    seed,
    autoreset,
    entries: [entry],
    mode,
    backend: 'wasm',
    segments: [{ spec: spec as unknown as Record<string, unknown>, fd: -1, blockEntries: [0] }],
    ppo: tinyPpo(options.ppo),
    checkpointDir: null,
    stepPeriodMs: 0,
    resume: null,
    life: 0,
    base: null,
    adopt: [],
  };
  const balance = createBalance();
  const stats = [createEpisodeStats()];
  const envStats = createEnvStatsTable();
  const policies: Policy[] = [];
  const warnings: string[] = [];
  const unusable: number[] = [];
  let nowMs = 0;
  const clock = createPhaseClock(() => nowMs++);
  const group = makeGroup(
    {
      start,
      memory,
      control,
      balance,
      clock,
      stats,
      envStats,
      backend,
      gatherThreads: 1,
      pause: () => Promise.resolve(),
      onPolicy: (policy) => policies.push(policy),
      onBadUpdate: (message) => warnings.push(message),
      onUnusable: (envId) => unusable.push(envId),
      faults: injectFault(options.fault ?? null, 0),
    },
    entry,
  );
  group.add(segment, 0, 0);

  /** One round of the worker over every leased slot; returns the frames published. */
  function work(): number {
    const claimed = writer.claim(envs);
    if (claimed === 0) return 0;
    const { range } = writer;
    const view = (slot: number): Float32Array => writer.views(slot, (range.cell[slot] as number) % 2)[key] as Float32Array;
    for (let r = 0; r < writer.runCount; r++) {
      const first = writer.runs[2 * r] as number;
      for (let slot = first; slot < first + (writer.runs[2 * r + 1] as number); slot++) {
        const action = range.action.subarray(slot * range.actionStride, slot * range.actionStride + length);
        const { reward, flags } = env.step(slot, action, view(slot));
        range.reward[slot] = reward;
        range.flags[slot] = flags;
        if ((flags & DONE) === 0 || autoreset !== 'same-step') continue;
        writer.keepFinal(slot);
        env.reset(slot, view(slot));
        range.flags[slot] = flags | FINAL;
      }
    }
    for (let r = 0; r < writer.resetCount; r++) {
      const slot = writer.resets[r] as number;
      env.reset(slot, view(slot));
      range.flags[slot] = FIRST;
    }
    return writer.publish('off');
  }

  /** Worker, learner, update when due, until `updates` more updates are done or (without a learner) `turns` are over. */
  async function run(goal: { updates: number } | { turns: number }): Promise<void> {
    const target = 'updates' in goal ? group.agent.updates + goal.updates : Number.POSITIVE_INFINITY;
    const turns = 'turns' in goal ? goal.turns : Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < turns && group.agent.updates < target; turn++) {
      const published = work();
      let taken = 0;
      for (let n = group.turn(); n > 0; n = group.turn()) taken += n;
      if (group.agent.updateDue) await group.agent.update(() => false);
      else if (published === 0 && taken === 0) throw new Error('worker and learner wait for each other');
    }
  }

  return { group, balance, stats, envStats, warnings, unusable, start, segment, memory, work, run, policy: () => policies[0] as Policy };
}
