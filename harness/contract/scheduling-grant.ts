// What one role asked of the kernel's scheduler and what it got: rows of run.json and of the `scheduling` event.
import { z } from 'zod';

export const schedulingGrantSchema = z.object({
  role: z.enum(['learner', 'worker']),
  /** In words: "nice -5", "SCHED_FIFO 50", "one core a process". */
  asked: z.string(),
  granted: z.string(),
  /** Null when it was granted as asked. */
  why_not: z.string().nullable(),
});
export type SchedulingGrant = z.infer<typeof schedulingGrantSchema>;

export const schedulingGrantsSchema = z.array(schedulingGrantSchema);
