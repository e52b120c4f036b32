// How a child process ends when it is not told to stop. Distinct from every code a user's env is likely to exit with, so that a death
// reads as what it was. Written by worker and learner, read by the supervisor.

export const CHILD_EXIT = {
  stopped: 0,
  /** It reported `fatal` and gave up. */
  fatal: 70,
  /** Another epoch owns its slots: it was taken for dead and replaced. */
  fenced: 71,
  /** Its supervisor went away. */
  orphaned: 72,
} as const;

export type ChildExit = (typeof CHILD_EXIT)[keyof typeof CHILD_EXIT];
