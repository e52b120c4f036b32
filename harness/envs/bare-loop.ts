// The plainest loop over a kind that still is reinforcement learning: step all, reset what ended, nothing else. What it reaches on a core
// is the denominator for every figure about framework cost.
import type { Action } from '../contract/env.js';
import { DONE } from '../contract/frame-flags.js';
import { createLocalRange } from './local-range.js';
import type { ResolvedKind } from './registry.js';
import { createSlotTable } from './slot-table.js';

export interface BareLoopResult {
  readonly steps: number;
  readonly resets: number;
  readonly seconds: number;
  /** Agent steps a second; resets are not counted as steps but take their time. */
  readonly stepsPerSecond: number;
  readonly nsPerStep: number;
}

export interface BareLoopOptions {
  readonly envs: number;
  /** Rounds over all envs; steps = envs * rounds. */
  readonly rounds: number;
  readonly baseSeed?: number;
  /** Called before each round, outside the framework: writes actions. Default: all zero, constant. */
  readonly act?: (actions: Int32Array | Float32Array, round: number) => void;
}

/** Runs the loop with `stepMany` where the kind has it. Constructors are awaited before the clock starts. */
export async function runBareLoop(kind: ResolvedKind, options: BareLoopOptions): Promise<BareLoopResult> {
  const { envs, rounds } = options;
  const port = createLocalRange(kind, { slots: envs });
  const { env, slots, streams, steps, stepLimit, actionScratch } = createSlotTable(kind, port, { baseSeed: options.baseSeed ?? 1 });
  const { range } = port;
  for (const slot of slots) {
    range.cell[slot.index] = slot.index * port.spec.cells;
    await env.construct?.(slot);
  }
  let resets = 0;
  const reset = (index: number): void => {
    const slot = slots[index];
    const stream = streams[index];
    if (slot === undefined || stream === undefined) return;
    stream.reseat(slot.envId, slot.episode++);
    steps[index] = 0;
    const result = env.reset(slot, stream);
    if (result?.obs !== undefined) for (const key in result.obs) slot.obs[key]?.set(result.obs[key] ?? []);
    resets++;
  };
  for (let i = 0; i < envs; i++) reset(i);
  resets = 0;
  const begin = performance.now();
  for (let round = 0; round < rounds; round++) {
    options.act?.(range.action, round);
    if (env.stepMany !== undefined) env.stepMany(0, envs);
    else stepEach();
    for (let i = 0; i < envs; i++) {
      const step = (steps[i] as number) + 1;
      steps[i] = step;
      if (((range.flags[i] as number) & DONE) !== 0 || step >= stepLimit) reset(i);
    }
  }
  const seconds = (performance.now() - begin) / 1000;
  for (const slot of slots) await env.close?.(slot);
  const done = envs * rounds;
  return { steps: done, resets, seconds, stepsPerSecond: done / seconds, nsPerStep: (seconds * 1e9) / done };

  function stepEach(): void {
    const discrete = kind.spaces.action.type === 'discrete';
    for (let i = 0; i < envs; i++) {
      const slot = slots[i];
      if (slot === undefined) continue;
      const at = i * range.actionStride;
      for (let j = 0; j < actionScratch.length; j++) actionScratch[j] = range.action[at + j] as number;
      const action: Action = discrete ? (range.action[at] as number) : actionScratch;
      const result = env.step(slot, action);
      if (result.obs !== undefined) for (const key in result.obs) slot.obs[key]?.set(result.obs[key] ?? []);
      range.reward[i] = result.reward;
      range.flags[i] = (result.terminated ? 1 : 0) | (result.truncated ? 2 : 0);
    }
  }
}
