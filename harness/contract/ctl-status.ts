// What `envladder ctl status` is answered with: the detail of a status answer. Made by the ladder, printed by the command line; tools read
// it too, so fields are only ever added.
import { z } from 'zod';

const age = z.number().min(0);
const count = z.number().min(0);
const report = z.object({ rssBytes: z.number() }).loose().nullable();

export const ctlStatusSchema = z.object({
  /** As in the state store (harness/bus/state). Null where nobody added it. */
  run: z
    .object({
      runId: z.string(),
      plan: z.string(),
      startedAt: z.string(),
      at: z.string(),
      phase: z.string(),
      tier: z.int(),
      envs: count,
      live: count,
      quarantined: count,
      samplingSps: z.number(),
      trainingSps: z.number(),
      restarts: count,
    })
    .nullable()
    .default(null),
  workers: z.array(
    z.object({
      worker: z.int(),
      pid: z.int().nullable(),
      epoch: z.int(),
      verdict: z.string(),
      envId: z.int(),
      op: z.string(),
      nativeAgeMs: age,
      loopAgeMs: age,
      opAgeMs: age,
      restarts: count,
      budgetLeft: count,
      report,
    }),
  ),
  learner: z.object({ pid: z.int().nullable(), restarts: count, report }),
  suspended: z.string().nullable(),
  deadlinesMissed: z.record(z.string(), count),
});
export type CtlStatus = z.output<typeof ctlStatusSchema>;
