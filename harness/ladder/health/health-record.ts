// health.json from what the keeper's parts know: packing and cutting, nothing else. Pure.
import type { EnvRange } from '../../contract/env-state.js';
import {
  HEALTH_REPORT_VERSION,
  HEALTH_STATE_LETTERS,
  HEALTH_STATES,
  type HealthReport,
  type HealthState,
  type HealthSummary,
  MOST_FRAME_ENVS,
} from '../../contract/health-report.js';
import type { CrewHealth } from '../../supervisor/crew.js';

const MOST_TROUBLED = 10_000;
const MOST_RANGES = 5000;
export const SLOWEST = 20;
export const TOP_ERRORS = 20;

/** Parts that are in the record as they stand. */
type Parts = Pick<
  HealthReport,
  | 'run_id'
  | 'run_s'
  | 'final'
  | 'envs'
  | 'events'
  | 'restarts'
  | 'suspended'
  | 'gaps'
  | 'stability'
  | 'slowest'
  | 'slowest_over_s'
  | 'growth'
  | 'errors'
  | 'refused'
  | 'log'
>;

export interface HealthFacts extends Parts {
  readonly envRanges: readonly EnvRange[];
  /** Code of HEALTH_STATES by env id. */
  readonly envStates: Uint8Array;
  /** NaN: not counted. */
  readonly envFrames: Float64Array;
  readonly health: Pick<CrewHealth, 'rebuilds' | 'failures' | 'deadlinesMissed'>;
}

export function healthRecord({ envRanges, envStates, envFrames, health, ...parts }: HealthFacts): HealthReport {
  return {
    schema_version: HEALTH_REPORT_VERSION,
    ...parts,
    ranges: envRanges.slice(0, MOST_RANGES).map(({ first, count, entry, worker }) => ({ first, count, entry, worker })),
    states: packStates(envStates),
    state_counts: countStates(envStates),
    frames:
      parts.envs > MOST_FRAME_ENVS
        ? null
        : Array.from({ length: parts.envs }, (_, env) => ((envFrames[env] ?? Number.NaN) >= 0 ? (envFrames[env] as number) : -1)),
    troubled: troubledEnvs(health.rebuilds, health.failures),
    deadlines_missed: { ...health.deadlinesMissed },
  };
}

function letterOf(code: number): string {
  return HEALTH_STATE_LETTERS[HEALTH_STATES[code] as HealthState];
}

/** Run lengths of letters: [1, 1, 4] -> "2l1q". */
export function packStates(states: Uint8Array): string {
  const runs: string[] = [];
  for (let from = 0; from < states.length; ) {
    let to = from + 1;
    while (to < states.length && states[to] === states[from]) to++;
    runs.push(`${to - from}${letterOf(states[from] as number)}`);
    from = to;
  }
  return runs.join('');
}

function countStates(states: Uint8Array): Record<string, number> {
  const counts = HEALTH_STATES.map(() => 0);
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return Object.fromEntries(HEALTH_STATES.map((name, code) => [name, counts[code] ?? 0]));
}

function troubledEnvs(rebuilds: Uint32Array, failures: Uint32Array): HealthReport['troubled'] {
  const all: [number, number, number][] = [];
  for (let env = 0; env < Math.max(rebuilds.length, failures.length); env++) {
    const [built, failed] = [rebuilds[env] ?? 0, failures[env] ?? 0];
    if (built + failed > 0) all.push([env, built, failed]);
  }
  all.sort((a, b) => b[2] - a[2] || b[1] - a[1] || a[0] - b[0]);
  return { envs: all.slice(0, MOST_TROUBLED), more: Math.max(0, all.length - MOST_TROUBLED) };
}

export function summaryOf(report: HealthReport, health: Pick<CrewHealth, 'rebuilds'>): HealthSummary {
  const scores = report.stability.flatMap(({ score }) => (score === null ? [] : [score]));
  const slopes = report.growth.flatMap(({ role, rss_slope_per_h: slope }) => (role === 'worker' && slope !== null ? [slope.low] : []));
  const missed = report.deadlines_missed;
  return {
    errors: report.errors.total,
    distinct_errors: report.errors.distinct,
    errors_lost: report.errors.lost,
    restarts: report.growth.reduce((sum, { lives }) => sum + Math.max(0, lives - 1), 0),
    rebuilds: health.rebuilds.reduce((sum, times) => sum + times, 0),
    soft_restarts: report.restarts.soft,
    deadlines_missed: missed.construct + missed.reset + missed.step + missed.close,
    suspended_s: report.suspended.total_s,
    stability: scores.length === 0 ? null : Math.min(...scores),
    rss_slope_per_h: slopes.length === 0 ? null : Math.max(...slopes),
    log_bytes: report.log.written_bytes,
  };
}
