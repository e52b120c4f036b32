// Env kind of the claim about starting in groups: its constructor waits, as one that boots a simulator does, so that constructors side by side
// gain what they gain with real simulators. A step writes one number.
import type { Env, EnvContext, EnvKind } from '../../contract/env.js';

interface SlowBootConfig {
  /** Milliseconds each constructor waits, off the CPU. */
  readonly bootMs: number;
}

function create({ config }: EnvContext<SlowBootConfig>): Env {
  return {
    construct: () => new Promise<void>((done) => setTimeout(done, config.bootMs)),
    reset(slot, seed): void {
      (slot.obs.vector as Float32Array).fill(seed.uniform());
    },
    step(slot) {
      (slot.obs.vector as Float32Array).fill(0.5);
      return { reward: 0, terminated: false, truncated: false };
    },
  };
}

export const kind: EnvKind<SlowBootConfig> = {
  name: 'slow-boot',
  version: '1.0.0',
  summary: 'a constructor that waits: vector f32[4], 2 actions, endless',
  parseConfig(given) {
    const { bootMs } = given as { bootMs?: unknown };
    if (typeof bootMs !== 'number' || !(bootMs >= 0)) throw new Error('slow-boot: bootMs must be a number of milliseconds');
    return { bootMs };
  },
  spaces: () => ({
    observation: { vector: { dtype: 'f32', shape: [4], low: 0, high: 1 } },
    action: { type: 'discrete', n: 2 },
  }),
  create,
  sources: [import.meta.url],
};
