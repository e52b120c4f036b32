// An environment that does nothing: it measures the framework around it. The observation is written once at reset (the seed's first
// draw) and never again, reward is 0, episodes never end. `constructMs` busy-waits in the constructor to measure start-up.
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
  const { constructMs } = context.config;
  const env: Env = {
    reset(slot, seed): void {
      (slot.obs.vector as Float32Array).fill(seed.uniform());
    },
    step: () => nothing,
    // The harness zeroed reward and flags of claimed slots: there is nothing left to do.
    stepMany(): void {},
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
