// A plan: what a ladder climbs, with what, for how long. Read from YAML, overridden by command-line flags, stored resolved in run.json.
import { z } from 'zod';
import { CHECK_LEVELS } from './check-level.js';
import { AUTORESET_MODES } from './frame-flags.js';
import { FOREIGN_LIMIT_SHARE, MAX_CELLS, MAX_ENVS, MAX_WORKERS, STEAL_LIMIT_SHARE } from './limits.js';
import {
  type Deadlines,
  deadlinesSchema,
  groupsSchema,
  healthSchema,
  ISOLATIONS,
  type Isolation,
  redisSchema,
  schedulingSchema,
} from './plan-health.js';
import { checkSlos, resolveSlos, slosSchema } from './plan-slos.js';
import { ppoSchema } from './ppo-config.js';
import type { Slo } from './slo.js';

const seconds = z
  .number()
  .positive('seconds must be above 0')
  .max(31 * 86_400, 'a tier is at most 31 days');

export const tierSchema = z.strictObject({
  envs: z.int('a tier is a whole number of envs').positive('a tier needs at least one env').max(MAX_ENVS),
  seconds: seconds.optional(),
  /** Shown in reports: "Day 1". */
  label: z.string().max(80).optional(),
  /** Objectives of this tier alone; one on the same side of a metric takes the place of the plan's. */
  slos: slosSchema.optional(),
});

const share = z.number().min(0, 'a share of CPU time is 0 to 1').max(1, 'a share of CPU time is 0 to 1');

/** How quiet the machine must be for a tier to be valid, as shares of CPU time. */
export const quietSchema = z.strictObject({
  maxStealShare: share.default(STEAL_LIMIT_SHARE),
  maxForeignShare: share.default(FOREIGN_LIMIT_SHARE),
  /** With a rate: p99 of how late steps were let go. Left out: one period, 1000 / rate. */
  maxScheduleLagMs: z.number().positive('a lag is above 0 ms').optional(),
});

/** What a run must find to be the run that was planned; each is checked only when given. */
export const expectSchema = z.strictObject({
  /** Version of Node, or its beginning: "20", "20.19". */
  node: z
    .string()
    .regex(/^v?\d+(\.\d+){0,2}$/, 'a Node version is 20, 20.19 or 20.19.1')
    .optional(),
  /** Refuses a run whose seed was changed by a flag. */
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  cores: z.int().positive().optional(),
  cpuModel: z.string().min(1).optional(),
  /** `contract_sha256` of the run to be compared with. */
  contractSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a contract hash is 64 hexadecimal digits')
    .optional(),
});

export const mixEntrySchema = z.strictObject({
  /** Env kind; the entry's own name when left out. */
  kind: z.string().min(1).optional(),
  share: z.number().gt(0, 'a share must be above 0').max(1, 'a share is at most 1'),
  config: z.record(z.string(), z.unknown()).default({}),
  /** What the envs may take down with them; the kind's own word when left out. */
  isolation: z.enum(ISOLATIONS).optional(),
  /** Envs behind one thread or process, when isolated. */
  pack: z.int().min(1).max(100_000).optional(),
  deadlines: deadlinesSchema.optional(),
});

export const planSchema = z
  .strictObject({
    name: z.string().min(1).max(80).default('unnamed'),
    description: z.string().default(''),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1),
    tiers: z
      .array(z.union([z.int('a tier is a whole number of envs').positive('a tier needs at least one env').max(MAX_ENVS), tierSchema]))
      .min(1, 'at least one tier is needed'),
    /** Seconds per tier, for tiers that do not say themselves. Counted from the moment all of the tier's envs are live. */
    seconds: seconds.default(20),
    /** Name -> share of the envs, or {kind, share, config}. Shares sum to 1. */
    mix: z.record(z.string(), z.union([z.number(), mixEntrySchema])).default({ cartpole: 1 }),
    /** Module with env kinds of the user's own. */
    module: z.string().optional(),
    /** 0 = cores - 1, at least 1. */
    workers: z.int().min(0).max(MAX_WORKERS).default(0),
    learner: z.enum(['ppo', 'random', 'none']).default('ppo'),
    backend: z.enum(['auto', 'tfjs-node-gpu', 'tfjs-node', 'wasm']).default('auto'),
    /** Steps a second that every env is to make; left out: as many as it can. */
    rate: z.number().gt(0, 'a rate is above 0').max(100_000, 'a rate is at most 100,000 steps a second and env').optional(),
    autoreset: z.enum(AUTORESET_MODES).default('next-step'),
    check: z.enum(CHECK_LEVELS).default('sampled'),
    cells: z.int().min(2).max(MAX_CELLS).default(2),
    /** Env constructors in work at once, per worker. */
    constructParallel: z.int().min(1).max(1024).default(16),
    /** A step, reset or constructor that takes longer is a hang: its worker is killed and restarted without that env. */
    stepDeadlineSeconds: z.number().positive().default(30),
    /** Longest wait for a tier's envs to be live before the run is called invalid. */
    startDeadlineSeconds: z.number().positive().default(120),
    /** Longest wait at stop for workers and learner to finish by themselves. */
    drainSeconds: z.number().positive().default(10),
    ppo: ppoSchema.prefault({}),
    health: healthSchema.prefault({}),
    groups: groupsSchema.prefault({}),
    scheduling: schedulingSchema.prefault({}),
    /** State for people and tools; left out, there is none. */
    redis: redisSchema.optional(),
    /** Objectives of every tier. */
    slos: slosSchema.default([]),
    /** Least frames of every env in a tier's measured time. */
    minStepsPerEnv: z.int().min(0).default(1),
    /** Least PPO updates in a tier. */
    minUpdates: z.int().min(0).default(1),
    quiet: quietSchema.prefault({}),
    expect: expectSchema.default({}),
  })
  .superRefine((plan, context) => {
    let before = 0;
    plan.tiers.forEach((tier, index) => {
      const envs = typeof tier === 'number' ? tier : tier.envs;
      if (envs <= before) {
        context.addIssue({ code: 'custom', path: ['tiers', index], message: `tiers must rise: ${envs} does not come after ${before}` });
      }
      before = envs;
      if (typeof tier !== 'number') checkSlos(tier.slos ?? [], ['tiers', index, 'slos'], Object.keys(plan.mix), context);
    });
    checkSlos(plan.slos, ['slos'], Object.keys(plan.mix), context);
    const entries = Object.entries(plan.mix);
    if (entries.length === 0) context.addIssue({ code: 'custom', path: ['mix'], message: 'at least one env kind is needed' });
    for (const [name, entry] of entries) {
      if (typeof entry === 'number' && !(entry > 0 && entry <= 1)) {
        context.addIssue({ code: 'custom', path: ['mix', name], message: `a share must be above 0 and at most 1, found ${entry}` });
      }
    }
    const sum = entries.reduce((total, [, entry]) => total + (typeof entry === 'number' ? entry : entry.share), 0);
    if (entries.length > 0 && Math.abs(sum - 1) > 1e-6) {
      context.addIssue({ code: 'custom', path: ['mix'], message: `shares must sum to 1, found ${Number(sum.toFixed(6))}` });
    }
  });

export type PlanInput = z.input<typeof planSchema>;
type ParsedPlan = z.output<typeof planSchema>;

export interface Tier {
  readonly envs: number;
  readonly seconds: number;
  readonly label: string;
  /** The plan's objectives and the tier's own. */
  readonly slos: readonly Slo[];
}

export interface MixEntry {
  /** Name in records and reports. */
  readonly name: string;
  readonly kind: string;
  readonly share: number;
  readonly config: Readonly<Record<string, unknown>>;
  readonly isolation?: Isolation | undefined;
  readonly pack?: number | undefined;
  readonly deadlines?: Deadlines | undefined;
}

/** A plan with nothing left to default: tiers and mix in one form, the worker count decided. */
export interface Plan extends Omit<ParsedPlan, 'tiers' | 'mix' | 'module' | 'slos'> {
  readonly tiers: readonly Tier[];
  readonly mix: readonly MixEntry[];
  readonly module: string | null;
  readonly slos: readonly Slo[];
}

/** Brings a parsed plan into its resolved form. `cores` decides `workers: 0`. */
export function resolvePlan(parsed: ParsedPlan, cores: number): Plan {
  const slos = resolveSlos(parsed.slos, []);
  return {
    ...parsed,
    slos,
    module: parsed.module ?? null,
    workers: parsed.workers === 0 ? Math.max(1, cores - 1) : parsed.workers,
    tiers: parsed.tiers.map((tier) =>
      typeof tier === 'number'
        ? { envs: tier, seconds: parsed.seconds, label: tier.toLocaleString('en-US'), slos }
        : {
            envs: tier.envs,
            seconds: tier.seconds ?? parsed.seconds,
            label: tier.label ?? tier.envs.toLocaleString('en-US'),
            slos: resolveSlos(tier.slos ?? [], slos),
          },
    ),
    mix: Object.entries(parsed.mix).map(([name, entry]) =>
      typeof entry === 'number' ? { name, kind: name, share: entry, config: {} } : { ...entry, name, kind: entry.kind ?? name },
    ),
  };
}
