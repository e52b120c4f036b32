// An environment whose every observation element is a known function of (env id, episode, step), so that a test can check each cell of
// shared memory for loss, tearing and mixing. Length and ending of episodes are exact; the reward is step + 1 or a constant.
import { z } from 'zod';
import type { Env, EnvContext, EnvKind, ResetResult, Slot, StepResult } from '../../contract/env.js';
import { parseKindConfig } from '../kind-config.js';

const configSchema = z.strictObject({
  /** Time limit set by the harness (truncated). Undefined: none. */
  episodeSteps: z.number().int().positive().optional(),
  /** The env itself terminates at this step of each episode. */
  terminateAt: z.number().int().positive().optional(),
  /** The env itself truncates at this step of each episode. */
  truncateAt: z.number().int().positive().optional(),
  /** Elements of the observation `vector`. */
  elements: z.number().int().positive().default(4),
  /** Returns one static buffer as `obs`, overwritten at every call: the harness must have copied it. */
  reuseBuffer: z.boolean().default(false),
  /** Steps through `stepMany` (true) or slot by slot (false). */
  many: z.boolean().default(false),
  /** Constant reward; undefined: the step's number, from 1. */
  reward: z.number().optional(),
});
export type ProbeConfig = z.infer<typeof configSchema>;

/** Value of element `element` in the frame after `step` steps of `episode` of `envId`: exact in f64 for ids below 2^20, episodes below 2^12, steps and elements below 2^10. */
export function probeValue(envId: number, episode: number, step: number, element: number): number {
  return ((envId * 4096 + (episode % 4096)) * 1024 + (step % 1024)) * 1024 + (element % 1024);
}

/** Reads a probe value back, for messages. */
export function decodeProbe(value: number): { envId: number; episode: number; step: number; element: number } {
  const element = value % 1024;
  const rest = Math.floor(value / 1024);
  const upper = Math.floor(rest / 1024);
  return { envId: Math.floor(upper / 4096), episode: upper % 4096, step: rest % 1024, element };
}

function create(context: EnvContext<ProbeConfig>): Env {
  const { config, range, firstEnvId, capacity } = context;
  const { elements, terminateAt, truncateAt } = config;
  const steps = new Int32Array(capacity);
  const episodes = new Int32Array(capacity);
  const shared = new Float64Array(elements);
  const write = (target: Float64Array, at: number, index: number): void => {
    const base = probeValue(firstEnvId + index, episodes[index] as number, steps[index] as number, 0);
    for (let j = 0; j < elements; j++) target[at + j] = base + (j % 1024);
  };
  const emit = (slot: Slot): { obs: Record<string, Float64Array> } | undefined => {
    if (!config.reuseBuffer) {
      write(slot.obs.vector as Float64Array, 0, slot.index);
      return undefined;
    }
    write(shared, 0, slot.index);
    return { obs: { vector: shared } };
  };
  const env: Env = {
    reset(slot): ResetResult | undefined {
      steps[slot.index] = 0;
      episodes[slot.index] = slot.episode;
      return emit(slot);
    },
    step(slot): StepResult {
      const step = (steps[slot.index] as number) + 1;
      steps[slot.index] = step;
      return {
        reward: config.reward ?? step,
        terminated: step === terminateAt,
        truncated: step === truncateAt,
        ...emit(slot),
      };
    },
  };
  if (config.many && !config.reuseBuffer) {
    const plane = range.obs.vector as Float64Array;
    env.stepMany = (first, count) => {
      for (let i = first; i < first + count; i++) {
        const step = (steps[i] as number) + 1;
        steps[i] = step;
        range.reward[i] = config.reward ?? step;
        range.flags[i] = (step === terminateAt ? 1 : 0) | (step === truncateAt ? 2 : 0);
        write(plane, (range.cell[i] as number) * elements, i);
      }
    };
  }
  return env;
}

export const probe: EnvKind<ProbeConfig> = {
  name: 'probe',
  version: '1.0.0',
  summary: 'observation encodes env id, episode and step, to check every cell: vector f64[4], 2 actions',
  parseConfig: (config) => parseKindConfig('probe', configSchema, config),
  spaces: (config) => ({
    observation: { vector: { dtype: 'f64', shape: [config.elements], low: 0, high: Number.MAX_SAFE_INTEGER } },
    action: { type: 'discrete', n: 2 },
  }),
  timeLimit: (config) => config.episodeSteps,
  create,
  sources: [import.meta.url],
};
