// What a stood-up rig says of itself: the stack's output `rig`. Written by the Pulumi program, read by the rig's doctor, by `rig:ladder` and by
// whoever keeps a run of it. No secrets. A change of meaning raises `schema`.
import { z } from 'zod';

export const RIG_OUTPUT_SCHEMA = 1;

const count = z.number().int().min(0);

const sliceOutput = z.strictObject({
  cpus: z.string(),
  cpuWeight: count,
  ioWeight: count,
  memoryLowBytes: count,
  memoryHighBytes: count,
  memoryMaxBytes: count,
  tasksMax: count,
});

export const rigOutputSchema = z.strictObject({
  schema: z.literal(RIG_OUTPUT_SCHEMA),
  /** Hash of everything below `concerns`: two runs with the same hash ran on rigs that were told the same. */
  configHash: z.string().regex(/^[0-9a-f]{16}$/),
  host: z.strictObject({ id: z.string(), address: z.string(), port: count, user: z.string(), hostKey: z.string().nullable() }),
  /** As the config describes it; a run's own record has what was found. */
  machine: z.strictObject({ cores: count, threadsPerCore: count, ramBytes: count, gpus: count }),
  load: z.strictObject({ envs: count, obsBytes: count, cells: count }),
  /** For `workers` of a plan on this rig. */
  workers: count,
  shmBytes: count,
  nofile: count,
  slices: z.strictObject({ system: sliceOutput, learner: sliceOutput, redis: sliceOutput, workers: sliceOutput }),
  redis: z.strictObject({ port: count, replicas: count }).nullable(),
  /** Order of application. `script` is what the host has, relative to the login user's home; `secrets` are names on the script's stdin. */
  concerns: z.array(
    z.strictObject({
      concern: z.string(),
      script: z.string(),
      params: z.record(z.string(), z.string()),
      secrets: z.record(z.string(), z.string()),
    }),
  ),
  /** False: the config has no GPU, so no driver and no toolkit were installed. */
  gpuStack: z.boolean(),
});

export type RigOutput = z.output<typeof rigOutputSchema>;
