// Watches the objectives that may end a tier early, on the counts that come by themselves once a second. Pure: the results so far enter
// as a function, so that objectives are judged on the same figures as at the end of the tier.

import type { SloResult } from '../contract/run-record.js';
import type { Slo } from '../contract/slo.js';
import type { Measured } from '../contract/slo-metrics.js';
import { judgeSlo } from '../contract/slo-verdict.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';

export interface SloWatch {
  /** The objective that ends the tier now, or null. Asks for nothing while the counts are those of the last look. */
  look(latest: LearnerSnapshot | null): SloResult | null;
}

export interface SloWatchOptions {
  readonly slos: readonly Slo[];
  /** When the measured time began, on the learner's clock. */
  readonly fromMs: number;
  /** The tier's result if it ended with these counts. */
  readonly resultAt: (counts: LearnerSnapshot) => Measured;
}

export function createSloWatch({ slos, fromMs, resultAt }: SloWatchOptions): SloWatch {
  const aborting = slos.filter((slo) => slo.abort);
  let seenMs = fromMs;
  return {
    look(latest) {
      if (aborting.length === 0 || latest === null || latest.monotonicMs <= seenMs) return null;
      seenMs = latest.monotonicMs;
      const due = aborting.filter((slo) => latest.monotonicMs - fromMs >= slo.afterSeconds * 1000);
      if (due.length === 0) return null;
      const result = resultAt(latest);
      const missed = due.map((slo) => judgeSlo(slo, result)).find((judged) => judged.verdict === 'missed');
      return missed === undefined ? null : { ...missed, aborted: true };
    },
  };
}
