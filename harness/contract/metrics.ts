// One line of metrics.ndjson: the run as it went, once a second. Reports draw curves from it; nothing is computed from it that the
// record does not hold more exactly.
import { z } from 'zod';

export const metricsLineSchema = z.object({
  /** Seconds since the run began. */
  t_s: z.number(),
  tier: z.number().int(),
  envs_live: z.number(),
  published: z.number(),
  trained: z.number(),
  /** Over the last interval. */
  sampling_sps: z.number(),
  training_sps: z.number(),
  batch_fill: z.number(),
  restarts: z.number(),
  quarantined: z.number(),
  updates: z.number(),
  memory_bytes: z.record(z.string(), z.number()),
  kinds: z.record(z.string(), z.object({ episodes: z.number(), return_mean: z.number().nullable(), length_mean: z.number().nullable() })),
  losses: z.record(z.string(), z.record(z.string(), z.number())),
});

export type MetricsLine = z.infer<typeof metricsLineSchema>;
