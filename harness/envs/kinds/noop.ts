// An environment that does nothing, to measure the framework around it: it fills its observation with one number drawn at reset, which
// is the least that the contract allows; reward is 0, episodes never end. `constructMs` burns CPU in the constructor to measure start-up.
import { z } from 'zod';
import type { Env, EnvContext, EnvKind, StepResult } from '../../contract/env.js';
import { parseKindConfig } from '../kind-config.js';

const configSchema = z.strictObject({
  /** Elements of the one observation. */
  floats: z.number().int().min(1).max(1_048_576).default(64),
  /** Milliseconds of CPU each constructor burns. */
  constructMs: z.number().min(0).max(60_000).default(0),
});
type NoopConfig = z.infer<typeof configSchema>;

/** Burns CPU until `ms` have passed on the monotonic clock. */
function burn(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const nothing: StepResult = { reward: 0, terminated: false, truncated: false };

function create(context: EnvContext<NoopConfig>): Env {
  const { config, capacity, range } = context;
  const { constructMs, floats } = config;
  const { cell } = range;
  const plane = range.obs.vector as Float32Array;
  const values = new Float32Array(capacity);
  const env: Env = {
    reset(slot, seed): void {
      const value = seed.uniform();
      values[slot.index] = value;
      const from = (cell[slot.index] as number) * floats;
      plane.fill(value, from, from + floats);
    },
    step(slot): StepResult {
      (slot.obs.vector as Float32Array).fill(values[slot.index] as number);
      return nothing;
    },
    // Reward and flags of claimed slots are zeroed by the harness.
    stepMany(first, count): void {
      for (let i = first; i < first + count; i++) {
        const from = (cell[i] as number) * floats;
        plane.fill(values[i] as number, from, from + floats);
      }
    },
  };
  if (constructMs > 0) env.construct = () => burn(constructMs);
  return env;
}

export const noop: EnvKind<NoopConfig> = {
  name: 'noop',
  version: '1.0.0',
  summary: 'no work at all, to measure the framework: vector f32[64], 2 actions, endless',
  parseConfig: (config) => parseKindConfig('noop', configSchema, config),
  spaces: (config) => ({
    observation: { vector: { dtype: 'f32', shape: [config.floats], low: 0, high: 1 } },
    action: { type: 'discrete', n: 2 },
  }),
  create,
  sources: [import.meta.url],
};
