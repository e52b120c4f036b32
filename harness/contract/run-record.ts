// run.json: the machine-readable result of a run, from which every report is rendered. Its schema is versioned (semver); names listed
// in the README are relied upon by tools and change only with the major number. Fields that came with a later minor version have a
// default, so that a record of an earlier one still reads.
import { z } from 'zod';
import { healthSummarySchema } from './health-report.js';
import { rigFactsSchema, slicesUseSchema } from './rig-facts.js';
import { schedulingGrantsSchema } from './scheduling-grant.js';

/** The record's file in a run folder. */
export const RUN_RECORD_NAME = 'run.json';

export const RUN_RECORD_VERSION = '1.3.0';

const count = z.number().int().min(0);
const seconds = z.number().min(0).nullable();

const reasonSchema = z.object({ code: z.string(), message: z.string(), advice: z.string() });

export const validitySchema = z.object({
  verdict: z.enum(['valid', 'invalid']),
  reasons: z.array(reasonSchema),
});

/** One objective of the plan, judged on one tier. */
export const sloResultSchema = z.object({
  /** As the plan says it. */
  slo: z.string(),
  metric: z.string(),
  op: z.enum(['<', '<=', '>', '>=']),
  limit: z.number(),
  /** What the tier measured; null when it did not. */
  value: z.number().nullable(),
  verdict: z.enum(['met', 'missed', 'not-measured']),
  /** It ended the tier early: `value` is then what was measured at that moment. */
  aborted: z.boolean(),
});

/** Who else used the CPUs of this run during a tier's measured time; null = could not be read. */
export const machineLoadSchema = z.object({
  /** CPU time the hypervisor gave to others, over all CPU time. */
  steal_share: z.number().nullable(),
  /** CPU time of processes that are not of this run, over all CPU time. */
  foreign_share: z.number().nullable(),
  /** Times a core throttled for heat or power. */
  throttle_events: count.nullable(),
  /** Mean core frequency at the end over that at the start. */
  frequency_ratio: z.number().nullable(),
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
  /** 1.3: with a rate in the plan, what came of it; null without. */
  rate: z
    .object({
      planned_steps_per_env_s: z.number(),
      steps_per_env_s: z.number(),
      /** From the time at which a step was meant to begin to its frame published: `step_latency_us` is the service time in it. */
      response_latency_us: latencySchema,
      response_histogram: z.object({ value_us: z.array(z.number()), count: z.array(z.number()) }),
      /** How late actions that were there in time were let go: what the harness itself adds to the response. */
      schedule_lag_us: latencySchema,
    })
    .nullable()
    .default(null),
  /** 1.1: the plan's objectives for this tier, in the plan's order. */
  slos: z.array(sloResultSchema).default([]),
  /** 1.1: frames of the env that published the fewest in the measured time; null = not counted. */
  least_frames_per_env: count.nullable().default(null),
  /** 1.1 */
  machine_load: machineLoadSchema.nullable().default(null),
  /** 1.1: what a reader should know and what does not make the tier invalid. */
  warnings: z.array(reasonSchema).default([]),
  /** 1.3: what each slice of the rig used in the measured time; null where the run was on no rig. */
  slices: slicesUseSchema.nullable().default(null),
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
  /** 1.1: over all tiers that were judged; `none` = the plan has no objective. */
  slo_verdict: z.enum(['met', 'missed', 'not-measured', 'none']).default('none'),
  /** 1.1: the highest tier that holds (valid, every objective met); null while the run goes on, or when its sums cannot be trusted. */
  headline: z.object({ text: z.string(), tier: count.nullable(), envs: count }).nullable().default(null),
  /** 1.1: what the envs are made of and how they lie in memory: equal for two runs that can be compared. */
  contract_sha256: z.string().nullable().default(null),
  /** 1.1: those of all tiers, each once. */
  warnings: z.array(reasonSchema).default([]),
  /** 1.2: what the plan asked of the kernel's scheduler and what was granted; absent when it asked for nothing. */
  scheduling: schedulingGrantsSchema.optional(),
  /** 1.2: in short what health.json holds; null without one. */
  health: healthSummarySchema.nullable().default(null),
  /** 1.3: the rig the run was on, as it was told at the start, and what its slices used over the whole run; null without one. */
  rig: rigFactsSchema.pick({ config_hash: true, facts: true }).extend({ slices: slicesUseSchema.nullable() }).nullable().default(null),
  exit_code: z.number().int(),
});

export type RunRecord = z.infer<typeof runRecordSchema>;
export type TierResult = z.infer<typeof tierResultSchema>;
export type Balance = z.infer<typeof balanceSchema>;
export type Validity = z.infer<typeof validitySchema>;
export type Reason = z.infer<typeof reasonSchema>;
export type SloResult = z.infer<typeof sloResultSchema>;
export type MachineLoad = z.infer<typeof machineLoadSchema>;
export type Headline = NonNullable<RunRecord['headline']>;
export type Death = z.infer<typeof deathSchema>;
export type MachineFacts = z.infer<typeof machineSchema>;

/** The record's JSON Schema, for tools in other languages (docs/run-record.schema.json is this, printed). */
export function runRecordJsonSchema(): unknown {
  return z.toJSONSchema(runRecordSchema, { target: 'draft-2020-12' });
}
