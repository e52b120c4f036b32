// One failure of an env, worker or learner as it lies in the error ring, and what becomes of many of them: fingerprints with counts.
import { z } from 'zod';

/** What a process writes into its ring before it may die. JSON, cut to the ring's cell. */
export interface ErrorRecord {
  /** -1: no env was in work. */
  readonly envId: number;
  /** Mix entry; empty when no env was in work. */
  readonly entry: string;
  readonly operation: 'construct' | 'reset' | 'step' | 'close' | 'idle';
  /** Class and message: "TypeError: x is not a function". */
  readonly message: string;
  readonly stack: string;
}

const count = z.number().int().min(0);

export const fingerprintSchema = z.object({
  /** First 16 hexadecimal digits of the SHA-256 of the normalised frames. */
  fingerprint: z.string(),
  count,
  /** Of all errors so far, 0..1. */
  share: z.number().min(0).max(1),
  first_s: z.number(),
  last_s: z.number(),
  entries: z.record(z.string(), count),
  /** How many envs it hit, and the first few of them. */
  envs: count,
  env_ids: z.array(z.number().int()),
  workers: z.array(z.number().int()),
  /** One error in full. */
  exemplar: z.object({ env_id: z.number().int(), entry: z.string(), operation: z.string(), message: z.string(), stack: z.string() }),
});
export type Fingerprint = z.infer<typeof fingerprintSchema>;

/** A line of errors/top10.ndjson. */
export interface Top10Line {
  readonly run_s: number;
  readonly errors: number;
  readonly distinct: number;
  /** Errors that no ring or table had room for. */
  readonly lost: number;
  readonly top: readonly Fingerprint[];
}
