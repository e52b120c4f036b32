// health.json: how a run's envs and processes fared, for people and tools. Written by the ladder once a minute and at the end, read by
// reports. Bounded whatever the run's length: lists have limits, what they leave out is counted. Below 1 MB for 7,000 envs.
import { z } from 'zod';
import { ENV_STATES } from './env-state.js';
import { fingerprintSchema } from './error-record.js';

export const HEALTH_REPORT_NAME = 'health.json';
export const HEALTH_REPORT_VERSION = '1.0.0';

/** What an env's cell of the map says. `stale`: its worker does not move (dead, frozen, blocked), so what shared memory says of it is old. */
export const HEALTH_STATES = [...ENV_STATES, 'stale'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** One letter per state, for `states` below. */
export const HEALTH_STATE_LETTERS: Readonly<Record<HealthState, string>> = {
  'not-started': 'n',
  live: 'l',
  restarted: 'r',
  slow: 's',
  quarantined: 'q',
  lost: 'x',
  stale: 't',
};

export const MOST_HEALTH_ENVS = 1_000_000;
/** Frames are told env by env up to here. */
export const MOST_FRAME_ENVS = 20_000;
/** Upper edges of the classes that gaps are counted in, seconds; one more class lies above the last. */
export const GAP_EDGES_S = [2, 5, 10, 30, 60, 300] as const;

const count = z.number().int().min(0);
const seconds = z.number().min(0);
const text = z.string().max(4000);

/** A slope per hour with the ends of its 95 % interval; null where there were too few samples. */
export const slopeSchema = z.object({ value: z.number(), low: z.number(), high: z.number() }).nullable();

export const growthSchema = z.object({
  role: z.enum(['worker', 'learner']),
  worker: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  /** Lives seen; the figures are of the last one. */
  lives: count,
  /** Run time at which that life was first heard of, and for how long. */
  from_s: seconds,
  seconds,
  samples: count,
  rss_bytes: z.object({ first: count, last: count, max: count }),
  /** Without the first minute of a life, in which every process grows. */
  rss_slope_per_h: slopeSchema,
  heap_slope_per_h: slopeSchema,
  fds: z.object({ first: count, last: count, max: count }),
  fds_flat: z.boolean().nullable(),
  loop_lag_ms_max: z.number(),
  /** Curve of that life: run seconds and bytes. */
  curve: z.object({ t_s: z.array(seconds).max(120), rss_bytes: z.array(z.number()).max(120) }),
});

export const healthReportSchema = z.object({
  schema_version: z.string(),
  run_id: z.string(),
  /** Run time at which it was written, and whether the run was over. */
  run_s: seconds,
  final: z.boolean(),
  /** Planned envs. */
  envs: count.max(MOST_HEALTH_ENVS),
  /** Which ids are of which mix entry and worker. */
  ranges: z.array(z.object({ first: count, count, entry: z.string(), worker: count })).max(5000),
  /** By env id, run lengths: "120l1q" = 120 live, then one quarantined. Letters: HEALTH_STATE_LETTERS. */
  states: z.string().regex(/^(?:\d{1,7}[nlrsqxt])*$/, 'run lengths of state letters'),
  state_counts: z.record(z.string(), count),
  /** Frames published since the run began, by env id; -1: not counted (not started, out of the run). Null above MOST_FRAME_ENVS envs. */
  frames: z.array(z.number().int().min(-1)).nullable(),
  /** [env id, rebuilds, failures] of envs that have any, most failures first; `more` are left out. */
  troubled: z.object({ envs: z.array(z.tuple([count, count, count])).max(10_000), more: count }),
  /** Events of single envs and of workers. Texts are kept once: an event is [run seconds, index of its type, index of its text or -1]. */
  events: z.object({
    types: z.array(z.string().max(64)),
    texts: z.array(text).max(1000),
    envs: z.array(z.tuple([count, z.array(z.tuple([seconds, count, z.number().int()])).max(16)])).max(10_000),
    workers: z.array(z.tuple([count, z.array(z.tuple([seconds, count, z.number().int()])).max(64)])).max(300),
    /** Events that found no room; all are in events.sqlite. */
    left_out: count,
  }),
  /** Deaths and rebuilds in equal stretches of the run: counts[i] of stretch i. */
  restarts: z.object({
    bucket_s: z.number().positive(),
    causes: z.array(z.object({ cause: text, total: count, counts: z.array(count).max(240) })).max(32),
    /** Started by the keeper because memory grew. */
    soft: count,
  }),
  suspended: z.object({
    total_s: seconds,
    times: count,
    /** The newest ones. */
    intervals: z.array(z.object({ from_s: seconds, seconds, reason: text })).max(200),
  }),
  /** Stretches in which an env that had been live was not. */
  gaps: z.object({
    times: count,
    total_s: seconds,
    /** By class of GAP_EDGES_S. */
    classes: z.array(count).length(GAP_EDGES_S.length + 1),
    longest: z.array(z.object({ env_id: count, from_s: seconds, seconds, state: z.enum(HEALTH_STATES), open: z.boolean() })).max(50),
  }),
  /** Share of planned env time in which an env was live; see docs/health.md. */
  stability: z.array(
    z.object({
      entry: z.string(),
      envs: count,
      /** Env seconds planned. */
      planned_s: seconds,
      score: z.number().min(0).max(1).nullable(),
      /** Of the worst env. */
      worst: z.number().min(0).max(1).nullable(),
      worst_env_id: count.nullable(),
      below_99: count,
    }),
  ),
  /** Fewest frames in the measured time against the median of their entry. */
  slowest: z
    .array(
      z.object({ env_id: count, entry: z.string(), worker: count, frames: count, median: z.number().min(0), relative: z.number().min(0) }),
    )
    .max(50),
  /** Seconds that `slowest` counts over. */
  slowest_over_s: seconds,
  deadlines_missed: z.object({ construct: count, reset: count, step: count, close: count }),
  growth: z.array(growthSchema).max(300),
  errors: z.object({
    total: count,
    distinct: count,
    /** Counted, but their kind is unknown: they lost their cell before it was read. */
    lost: count,
    /** Counted, but of a kind beyond the limit of kinds kept. */
    unlisted: count,
    top: z.array(fingerprintSchema).max(20),
  }),
  /** Control messages that were refused, by why. */
  refused: z.record(z.string(), count),
  log: z.object({ budget_bytes: count, written_bytes: count, left_out_lines: count, failed_writes: count }),
});

export type HealthReport = z.infer<typeof healthReportSchema>;
export type GrowthRecord = z.infer<typeof growthSchema>;
export type Slope = z.infer<typeof slopeSchema>;

/** What run.json says of health.json. */
export const healthSummarySchema = z.object({
  errors: count,
  distinct_errors: count,
  errors_lost: count,
  restarts: count,
  rebuilds: count,
  soft_restarts: count,
  deadlines_missed: count,
  suspended_s: seconds,
  /** Lowest stability score of a mix entry; null without one. */
  stability: z.number().min(0).max(1).nullable(),
  /** Steepest lower end of a worker's RSS slope, bytes per hour; null without one. */
  rss_slope_per_h: z.number().nullable(),
  log_bytes: count,
});
export type HealthSummary = z.infer<typeof healthSummarySchema>;
