// Where the learner's time goes, by phase. One mark per phase change, no nesting: seconds add up to the time that learners lived.
import type { LearnerSnapshot } from '../contract/snapshot.js';

export type Phase = keyof LearnerSnapshot['phaseSeconds'];

export interface PhaseClock {
  /** Ends the running phase and begins `phase`. */
  enter(phase: Phase): void;
  seconds(): Record<Phase, number>;
}

/** `nowMs` is a monotonic clock in milliseconds; `base` the seconds of the learners before this one. */
export function createPhaseClock(nowMs: () => number, base?: Readonly<Record<Phase, number>>): PhaseClock {
  const totalMs: Record<Phase, number> = { wait: 0, collect: 0, infer: 0, act: 0, store: 0, train: 0 };
  for (const phase in totalMs) totalMs[phase as Phase] = (base?.[phase as Phase] ?? 0) * 1000;
  let current: Phase = 'wait';
  let since = nowMs();
  const settle = (): void => {
    const now = nowMs();
    totalMs[current] += now - since;
    since = now;
  };
  return {
    enter(phase) {
      if (phase === current) return;
      settle();
      current = phase;
    },
    seconds() {
      settle();
      const seconds = { ...totalMs };
      for (const phase in seconds) seconds[phase as Phase] /= 1000;
      return seconds;
    },
  };
}
