// run.json: the machine-readable result of a run, from which every report is rendered. Its schema is versioned (semver); names listed
// in the README are relied upon by tools and change only with the major number.
import { z } from 'zod';

export const RUN_RECORD_VERSION = '1.0.0';

const count = z.number().int().min(0);
const seconds = z.number().min(0).nullable();

export const validitySchema = z.object({
  verdict: z.enum(['valid', 'invalid']),
  reasons: z.array(z.object({ code: z.string(), message: z.string(), advice: z.string() })),
});

export const balanceSchema = z.object({
  /** Frames published during the tier plus `carried_in`. */
  published: count,
  /** Frames in flight when the tier began: published earlier, accounted for here. */
  carried_in: count,
  trained: count,
  evaluated: count,
  superseded: count,
  in_flight: count,
  dropped: z.record(z.string(), count),
});

export const latencySchema = z.object({
  p50: z.number().nullable(),
  p90: z.number().nullable(),
  p99: z.number().nullable(),
  p999: z.number().nullable(),
  max: z.number().nullable(),
});

export const tierResultSchema = z.object({
  tier: count,
  label: z.string(),
  envs: count,
  envs_live: count,
  planned_seconds: z.number(),
  /** Measured seconds: from all live to the end of the tier. Rates are over this time. */
  seconds: z.number(),
  complete: z.boolean(),
  time_to_first_batch_s: seconds,
  time_to_all_live_s: seconds,
  /** Env calls published in the measured time, autoreset rows included; frame-skip is not counted. */
  agent_steps: count,
  sampling_sps: z.number(),
  /** Transitions that went through an update, per second. */
  training_sps: z.number(),
  /** Valid transitions trained or evaluated per second: agent steps less resets and drops. */
  goodput_sps: z.number(),
  step_latency_us: latencySchema,
  /** The tier's own histogram: bucket mid-points and counts. */
  latency_histogram: z.object({ value_us: z.array(z.number()), count: z.array(z.number()) }),
  batch_fill: z.number(),
  updates: count,
  shm_bytes: count,
  memory: z.record(z.string(), z.object({ pss_bytes: count, processes: count })),
  restarts: count,
  balance: balanceSchema,
  validity: validitySchema,
  kinds: z.record(
    z.string(),
    z.object({ kind: z.string(), envs: count, episodes: count, return_mean: z.number().nullable(), length_mean: z.number().nullable() }),
  ),
  phase_seconds: z.record(z.string(), z.number()),
  bytes_copied: count,
});

export const deathSchema = z.object({
  role: z.enum(['worker', 'learner', 'supervisor']),
  worker: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  /** Signal name or exit code as text, "deadline" when the supervisor killed it for a hang. */
  cause: z.string(),
  last_env_id: z.number().int().nullable(),
  last_operation: z.string().nullable(),
  stderr_tail: z.string(),
  restarted: z.boolean(),
  run_s: z.number(),
});

export const machineSchema = z.object({
  hostname_hash: z.string(),
  cpu_model: z.string(),
  cores: count,
  memory_bytes: count,
  kernel: z.string(),
  os: z.string(),
  node: z.string(),
  libc: z.string(),
});

export const runRecordSchema = z.object({
  schema_version: z.string(),
  run: z.object({
    id: z.string(),
    state: z.enum(['running', 'finished', 'interrupted', 'failed']),
    started_at: z.string(),
    ended_at: z.string().nullable(),
    seconds: z.number(),
    supervisor: z.object({ pid: z.number().int(), start_ticks: z.number(), boot_id: z.string() }),
    command: z.string(),
    envladder_version: z.string(),
    git_commit: z.string().nullable(),
    resumed_from: z.string().nullable(),
  }),
  machine: machineSchema,
  /** The resolved plan (contract/plan.ts). */
  plan: z.record(z.string(), z.unknown()),
  learner: z.object({ mode: z.string(), backend: z.string().nullable(), backend_version: z.string().nullable() }),
  env_kinds: z.record(
    z.string(),
    z.object({
      kind: z.string(),
      version: z.string(),
      code_sha256: z.string(),
      config_sha256: z.string(),
      git_commit: z.string().nullable(),
      autoreset: z.string(),
    }),
  ),
  preflight: z.array(z.object({ check: z.string(), needed: z.string(), found: z.string(), ok: z.boolean(), advice: z.string() })),
  tiers: z.array(tierResultSchema),
  /** Over the whole run, counted at the final stop with every writer gone. */
  balance: balanceSchema.nullable(),
  deaths: z.array(deathSchema),
  checkpoints: z.array(z.object({ path: z.string(), bytes: count, reason: z.string(), run_s: z.number() })),
  events: z.object({ written: count, dropped: count }),
  validity: validitySchema,
  verdict: z.enum(['valid', 'invalid']),
  exit_code: z.number().int(),
});

export type RunRecord = z.infer<typeof runRecordSchema>;
export type TierResult = z.infer<typeof tierResultSchema>;
export type Balance = z.infer<typeof balanceSchema>;
export type Validity = z.infer<typeof validitySchema>;
export type Death = z.infer<typeof deathSchema>;
export type MachineFacts = z.infer<typeof machineSchema>;

/** The record's JSON Schema, for tools in other languages (docs/run-record.schema.json is this, printed). */
export function runRecordJsonSchema(): unknown {
  return z.toJSONSchema(runRecordSchema, { target: 'draft-2020-12' });
}
