// Suspends killing while many workers are late at once: then the machine is the cause (a paused VM, a host out of memory, a burst of other
// work), and killing would make it worse. It ends after a second of calm, so that lateness that comes and goes is one suspension. Bounded: after
// `limitSeconds` of it judging goes on, and a new suspension needs a calm second first.
// Pure; fed by crew-watch.ts.
import type { HealthPlan } from '../contract/plan-health.js';

export interface KillSuspension {
  /** Why nothing is killed at present. */
  readonly reason: string | null;
  /** `late` of `workers` are late at this look. Returns what changed. */
  look(nowMs: number, late: number, workers: number): 'suspended' | 'resumed' | 'expired' | null;
}

/** One late worker is that worker's doing, however few there are. */
const LEAST_LATE = 2;
const CALM_MS = 1000;

export function createKillSuspension({ share, limitSeconds }: HealthPlan['suspend']): KillSuspension {
  let sinceMs: number | null = null;
  let spent = false;
  let calmSinceMs: number | null = null;
  let reason: string | null = null;
  return {
    get reason() {
      return reason;
    },
    look(nowMs, late, workers) {
      const many = late >= LEAST_LATE && late > share * workers;
      if (many) calmSinceMs = null;
      else {
        calmSinceMs ??= nowMs;
        if (nowMs - calmSinceMs < CALM_MS) return null;
        const was = sinceMs !== null;
        sinceMs = null;
        reason = null;
        spent = false;
        return was ? 'resumed' : null;
      }
      if (spent) return null;
      if (sinceMs === null) {
        sinceMs = nowMs;
        reason = `${late} of ${workers} workers are late at once: the machine is taken to be the cause`;
        return 'suspended';
      }
      if (nowMs - sinceMs <= limitSeconds * 1000) return null;
      sinceMs = null;
      reason = null;
      spent = true;
      return 'expired';
    },
  };
}
