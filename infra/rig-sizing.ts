// The sizing of the rig that a config describes: the figures of sizing.ts, with the slices' values that the config overrides. Pure.
import { EnvladderError } from '../harness/contract/errors.js';
import type { RigConfig } from './config-schema.js';
import { RIG_SLICES, type RigSizing, type RigSlice, type SliceSizing, sizeRig } from './sizing.js';

const MIB = 2 ** 20;

/** Sizes the rig of this config. Throws as sizeRig does, and `bad-plan` for an override that contradicts what was computed. */
export function rigSizing(config: RigConfig): RigSizing {
  const sizing = sizeRig({
    cores: config.cores,
    threadsPerCore: config.threadsPerCore === 2 ? 2 : 1,
    ramBytes: config.ramMb * MIB,
    gpus: config.gpus,
    envs: config.envs,
    obsBytes: config.obsBytes,
    cells: config.cells,
    envBytes: config.envBytes,
    redisReplicas: config.redis ? config.redisReplicas : 0,
  });
  const slices = Object.fromEntries(
    RIG_SLICES.map((name) => {
      const given = Object.fromEntries(Object.entries(config.slices[name] ?? {}).filter(([, value]) => value !== undefined));
      const slice: SliceSizing = { ...sizing.slices[name], ...given };
      if (slice.memoryHighBytes > slice.memoryMaxBytes || slice.memoryLowBytes > slice.memoryHighBytes) {
        throw new EnvladderError(
          'bad-plan',
          `envladder:slices.${name}: low ${slice.memoryLowBytes}, high ${slice.memoryHighBytes} and max ${slice.memoryMaxBytes} bytes are not in this order`,
        );
      }
      return [name, slice];
    }),
  ) as Record<RigSlice, SliceSizing>;
  return { ...sizing, slices };
}
