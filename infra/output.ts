// Builds the stack's output from config, sizing and desired state. Pure; harness/contract/rig-output.ts is its schema, and a value that breaks it
// never leaves this file.
import { RIG_OUTPUT_SCHEMA, type RigOutput, rigOutputSchema } from '../harness/contract/rig-output.js';
import type { RigConfig } from './config-schema.js';
import { configHash, type DesiredConcern } from './desired.js';
import { bundleScript } from './script-bundle.js';
import type { RigSizing } from './sizing.js';

/** The output `rig` of the stack. */
export function rigOutput(config: RigConfig, sizing: RigSizing, desired: readonly DesiredConcern[]): RigOutput {
  return rigOutputSchema.parse({
    schema: RIG_OUTPUT_SCHEMA,
    configHash: configHash(desired),
    host: {
      id: config.hostId ?? `${config.host}:${config.port}`,
      address: config.host,
      port: config.port,
      user: config.user,
      hostKey: config.hostKey ?? null,
    },
    machine: { cores: config.cores, threadsPerCore: config.threadsPerCore, ramBytes: config.ramMb * 2 ** 20, gpus: config.gpus },
    load: { envs: config.envs, obsBytes: config.obsBytes, cells: config.cells },
    workers: sizing.workers,
    shmBytes: sizing.shmBytes,
    nofile: sizing.nofile,
    slices: sizing.slices,
    redis: config.redis ? { port: config.redisPort, replicas: config.redisReplicas } : null,
    concerns: desired.map(({ concern, params, secrets }) => ({ concern, script: bundleScript(concern).remotePath, params, secrets })),
    gpuStack: config.gpus > 0,
  });
}
