// The `health` part of a plan: how long each operation may take, how often what may be started again, and how envs start in turn. Times are
// seconds on the monotonic clock. Read by the supervisor (deadlines, budgets), the workers (rebuilding) and the planner (isolation, groups).
import { z } from 'zod';

const seconds = z.number().positive('seconds must be above 0').max(86_400, 'a day is the longest deadline');

/** Longest time one call may take. Left out: the plan's `stepDeadlineSeconds`. */
export const deadlinesSchema = z.strictObject({
  construct: seconds.optional(),
  reset: seconds.optional(),
  step: seconds.optional(),
  close: seconds.optional(),
});

export type Deadlines = z.output<typeof deadlinesSchema>;

/** At most `restarts` within any `perSeconds`; what comes after is quarantined (an env), given up (a range) or ends the run (all). */
const budget = (restarts: number, perSeconds: number) =>
  z
    .strictObject({
      restarts: z.int().min(0, 'a budget is 0 or more').max(1_000_000).default(restarts),
      perSeconds: seconds.default(perSeconds),
    })
    .prefault({});

export const healthSchema = z.strictObject({
  /** `progress`: kernel events and progress stamps decide. `account`: Redis heartbeats decide, for comparison. */
  mode: z.enum(['progress', 'account']).default('progress'),
  /** Times of mode `account`: a worker beats, the supervisor scans all beats, and takes for dead whose newest is older than the limit. */
  account: z
    .strictObject({ beatSeconds: seconds.default(10), scanSeconds: seconds.default(30), limitSeconds: seconds.default(90) })
    .prefault({}),
  deadlines: deadlinesSchema.prefault({}),
  /** A worker whose native stamp stands still for this long is killed: it is stopped or starved. */
  frozenSeconds: seconds.default(10),
  /** A worker with a fresh native stamp, no env in work and a stale loop stamp for this long is killed: its event loop is blocked. */
  blockedSeconds: seconds.default(10),
  /** Between SIGTERM and SIGKILL. */
  graceSeconds: z.number().min(0).max(600).default(1),
  /** Rebuilds of one env after it failed (threw, broke the contract): beyond them it cools down, then is quarantined. */
  envBudget: budget(5, 600),
  /** Times an env out of its budget is tried again after `coolDownSeconds` before it stays out. */
  coolDowns: z.int().min(0).max(1000).default(1),
  coolDownSeconds: seconds.default(60),
  /** Deaths of a worker that one env was in work at: beyond them it is not built again. */
  crashBudget: budget(1, 3600),
  workerBudget: budget(10, 3600),
  runBudget: budget(200, 3600),
  learnerBudget: budget(3, 3600),
  /** Wait before the n-th restart within the budget's window: random in [0.5, 1] of base * 2^(n - 2), the first at once. */
  backoff: z.strictObject({ baseSeconds: seconds.default(0.2), maxSeconds: seconds.default(30) }).prefault({}),
  /** More than this share of the workers (two at least) late at once is the machine's doing: nothing is killed while it lasts, at most `limitSeconds`. */
  suspend: z.strictObject({ share: z.number().gt(0).max(1).default(0.2), limitSeconds: seconds.default(120) }).prefault({}),
  /** A worker whose memory grows is replaced softly before it holds this much (bytes of RSS). 0: never. */
  softLimitBytes: z.int().min(0).default(0),
});
export type HealthPlan = z.output<typeof healthSchema>;

/** Envs that start in turn instead of all at once. */
export const groupsSchema = z
  .strictObject({
    start: z.enum(['parallel', 'groups']).default('parallel'),
    /** Envs of one group: a contiguous range of ids of one kind and worker. */
    size: z.int().positive().max(1_000_000).default(70),
    /** A group wakes when each env of the group before it has made this many frames... */
    wakeSteps: z.int().min(1).optional(),
    /** ...or this long after the group before it woke. */
    wakeSeconds: z.number().min(0).max(86_400).optional(),
    /** What a group is before it wakes: not there, built and frozen, or built and held to 1 % of a core and 512 MB. */
    dormant: z.enum(['not-started', 'frozen', 'throttled']).default('not-started'),
  })
  .superRefine((groups, context) => {
    if (groups.start === 'groups' && (groups.wakeSteps === undefined) === (groups.wakeSeconds === undefined)) {
      context.addIssue({ code: 'custom', message: 'start: groups needs exactly one of wakeSteps and wakeSeconds' });
    }
  });
export type GroupsPlan = z.output<typeof groupsSchema>;

export const ISOLATIONS = ['inline', 'thread', 'process'] as const;
/** What an env can take down: `inline` its worker, `thread` its pack's thread (what blocks), `process` its pack's process (what may crash or leak). */
export type Isolation = (typeof ISOLATIONS)[number];

export const schedulingSchema = z.strictObject({
  /** Pins workers and learner to cores of their own when there are enough. */
  affinity: z.boolean().default(false),
  /** Nice values by role; the learner's should be the lower one. */
  nice: z.strictObject({ learner: z.int().min(-20).max(19).default(0), worker: z.int().min(-20).max(19).default(0) }).prefault({}),
  /** SCHED_FIFO priority of workers, as the account had it; refused by many machines, then the run goes on without and says so. */
  fifo: z.int().min(1).max(99).optional(),
});
export type SchedulingPlan = z.output<typeof schedulingSchema>;

export const redisSchema = z.strictObject({
  /** redis://host:port[/db], rediss://..., or unix:///path. A plan with a password is refused: that goes into ENVLADDER_REDIS_URL. */
  url: z.string().min(1),
  /** Keys begin with this and the run id. */
  prefix: z
    .string()
    .regex(/^[\w:-]{1,64}$/, 'letters, digits, _, : and -')
    .default('envladder'),
});
export type RedisPlan = z.output<typeof redisSchema>;
