// When nothing was killed because the machine itself was late, and why: intervals over the run's time. Bounded by MOST_INTERVALS; sums exact.
import type { HealthReport } from '../../contract/health-report.js';

const MOST_INTERVALS = 200;

type Suspended = HealthReport['suspended'];

export interface Suspensions {
  /** What the crew says now: a reason, or null while judging goes on. */
  look(runS: number, reason: string | null): void;
  record(runS: number): Suspended;
}

export function createSuspensions(): Suspensions {
  const closed: Suspended['intervals'] = [];
  let open: { readonly fromS: number; readonly reason: string } | null = null;
  let times = 0;
  let closedS = 0;
  const interval = (fromS: number, toS: number, reason: string): Suspended['intervals'][number] => ({
    from_s: Math.max(0, Math.round(fromS * 10) / 10),
    seconds: Math.max(0, Math.round((toS - fromS) * 10) / 10),
    reason: reason.slice(0, 400),
  });
  return {
    look(runS, reason) {
      if (open !== null && reason === null) {
        closedS += runS - open.fromS;
        closed.push(interval(open.fromS, runS, open.reason));
        if (closed.length > MOST_INTERVALS - 1) closed.shift();
        open = null;
      } else if (open === null && reason !== null) {
        open = { fromS: runS, reason };
        times++;
      }
    },
    record: (runS) => ({
      total_s: Math.round((closedS + (open === null ? 0 : runS - open.fromS)) * 10) / 10,
      times,
      intervals: open === null ? [...closed] : [...closed, interval(open.fromS, runS, open.reason)],
    }),
  };
}
