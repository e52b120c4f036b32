// Deaths and rebuilds by cause over the run's time, in at most 120 stretches: when the run grows past the last one, neighbours are added
// up and the stretches get twice as long. Sums stay exact. Bounded by MOST_BUCKETS x MOST_CAUSES.
import type { HealthReport } from '../../contract/health-report.js';

const MOST_BUCKETS = 120;
/** Causes are signals, exit codes and deadlines; what comes beyond is "other". */
const MOST_CAUSES = 24;
const MOST_CAUSE_CHARS = 60;

export interface RestartLine {
  add(runS: number, cause: string, times: number): void;
  record(): Omit<HealthReport['restarts'], 'soft'>;
}

export function createRestartLine(): RestartLine {
  let bucketS = 1;
  const causes = new Map<string, number[]>();

  function countsOf(cause: string): number[] {
    const short = cause.slice(0, MOST_CAUSE_CHARS);
    const name = causes.has(short) || causes.size < MOST_CAUSES - 1 ? short : 'other';
    const found = causes.get(name) ?? [];
    causes.set(name, found);
    return found;
  }

  function widen(): void {
    bucketS *= 2;
    for (const [cause, counts] of causes) {
      causes.set(
        cause,
        Array.from({ length: Math.ceil(counts.length / 2) }, (_, i) => (counts[2 * i] ?? 0) + (counts[2 * i + 1] ?? 0)),
      );
    }
  }

  return {
    add(runS, cause, times) {
      while (runS >= bucketS * MOST_BUCKETS) widen();
      const counts = countsOf(cause);
      const at = Math.max(0, Math.floor(runS / bucketS));
      while (counts.length <= at) counts.push(0);
      counts[at] = (counts[at] as number) + times;
    },
    record: () => ({
      bucket_s: bucketS,
      causes: [...causes]
        .map(([cause, counts]) => ({ cause, total: counts.reduce((sum, times) => sum + times, 0), counts: [...counts] }))
        .sort((a, b) => b.total - a.total),
    }),
  };
}
