// What the rig tells a ladder that runs on it: a file named by the environment, written by infra/scripts/ladder-run.sh before each run, read
// once at the start of the run. It names the stack's config and the cgroups whose use the run's record shows. A few hundred bytes.
import { z } from 'zod';

/** Names the file. Unset where no rig was stood up: then the record has no `rig`. */
export const RIG_FACTS_VARIABLE = 'ENVLADDER_RIG_FACTS';
export const RIG_FACTS_SCHEMA = 1;

export const rigFactsSchema = z.object({
  schema: z.literal(RIG_FACTS_SCHEMA),
  /** Of the stack that stood the rig up (infra/desired.ts); null when whoever started the run did not know it. */
  config_hash: z.string().nullable(),
  /** Name -> folder of the cgroup. */
  slices: z.record(z.string(), z.string().startsWith('/')),
  /** What was found on the host: GPU driver, sockets, NUMA nodes and the like. */
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

export type RigFacts = z.infer<typeof rigFactsSchema>;

/** One slice of the rig over a time; null = the kernel does not say. */
export const sliceUseSchema = z.object({
  /** CPU time used in it, in seconds. */
  cpu_s: z.number().nullable(),
  /** Of that, in the kernel. */
  cpu_system_s: z.number().nullable(),
  /** Time in which it was held back by a quota. */
  throttled_s: z.number().nullable(),
  /** Most memory it ever held since it was made (memory.peak, Linux 5.19 and later). */
  memory_peak_bytes: z.number().int().nullable(),
  /** What it held at the end of the time. */
  memory_bytes: z.number().int().nullable(),
  /** Processes killed for memory in that time. */
  oom_kills: z.number().int().nullable(),
});

export type SliceUse = z.infer<typeof sliceUseSchema>;
export const slicesUseSchema = z.record(z.string(), sliceUseSchema);
