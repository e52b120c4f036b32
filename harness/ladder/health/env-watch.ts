// How long each env was live of the time it was planned to be, and the stretches in which it was not: from one look at all envs a second.
// Stretches shorter than a look may go unseen; restarts and rebuilds are counted elsewhere. Bounded: 33 bytes per planned env and 50 gaps.
import { GAP_EDGES_S, HEALTH_STATES, type HealthReport, type HealthState } from '../../contract/health-report.js';

const LONGEST = 50;
const STALE = HEALTH_STATES.indexOf('stale');
const NOT_STARTED = HEALTH_STATES.indexOf('not-started');
const LIVE = HEALTH_STATES.indexOf('live');
const RESTARTED = HEALTH_STATES.indexOf('restarted');
const SLOW = HEALTH_STATES.indexOf('slow');

const isLive = (state: number): boolean => state === LIVE || state === RESTARTED;

type Gaps = HealthReport['gaps'];

export interface EnvWatch {
  /** `workerStale[worker]`: it does not move; `workerOf` by env id. `states` are codes of contract/env-state.ts. */
  look(runS: number, states: Uint8Array, workerOf: Int32Array, workerStale: readonly boolean[]): void;
  /** Code of HEALTH_STATES by env id, as of the last look. */
  readonly states: Uint8Array;
  /** Seconds by env id since it was first live. */
  readonly plannedS: Float64Array;
  readonly liveS: Float64Array;
  gaps(runS: number): Gaps;
}

/** A look that comes later than this (the supervisor was busy) counts for no more: nobody watched in between. */
const LONGEST_LOOK_S = 5;

export function createEnvWatch(envs: number): EnvWatch {
  const states = new Uint8Array(envs);
  const plannedS = new Float64Array(envs);
  const liveS = new Float64Array(envs);
  /** Run time at which the open gap began; NaN: none. */
  const gapFromS = new Float64Array(envs).fill(Number.NaN);
  const classes = new Array<number>(GAP_EDGES_S.length + 1).fill(0);
  let longest: Gaps['longest'] = [];
  let times = 0;
  let totalS = 0;
  let lastS = Number.NaN;

  function keep(gap: Gaps['longest'][number]): void {
    longest.push(gap);
    if (longest.length > 2 * LONGEST) longest = sorted(longest).slice(0, LONGEST);
  }

  function closeGap(env: number, runS: number, state: number): void {
    const from = gapFromS[env] as number;
    const seconds = runS - from;
    gapFromS[env] = Number.NaN;
    times++;
    totalS += seconds;
    const at = classOf(seconds);
    classes[at] = (classes[at] as number) + 1;
    keep({ env_id: env, from_s: round(from), seconds: round(seconds), state: HEALTH_STATES[state] as HealthState, open: false });
  }

  return {
    states,
    plannedS,
    liveS,
    look(runS, seen, workerOf, workerStale) {
      const step = Number.isNaN(lastS) ? 0 : Math.min(LONGEST_LOOK_S, Math.max(0, runS - lastS));
      lastS = runS;
      for (let env = 0; env < envs; env++) {
        const said = seen[env] ?? NOT_STARTED;
        const moves = isLive(said) || said === SLOW;
        const state = moves && workerStale[workerOf[env] as number] === true ? STALE : said;
        const before = states[env] as number;
        states[env] = state;
        if (before === NOT_STARTED) continue;
        plannedS[env] = (plannedS[env] as number) + step;
        if (isLive(state)) {
          // The stretch between two looks counts as live when both ends are.
          if (isLive(before)) liveS[env] = (liveS[env] as number) + step;
          if (!Number.isNaN(gapFromS[env] as number)) closeGap(env, runS, before);
        } else if (Number.isNaN(gapFromS[env] as number)) {
          gapFromS[env] = runS - step;
        }
      }
    },
    gaps(runS) {
      const open: Gaps['longest'] = [];
      let openS = 0;
      const openClasses = [...classes];
      for (let env = 0; env < envs; env++) {
        const from = gapFromS[env] as number;
        if (Number.isNaN(from)) continue;
        const seconds = Math.max(0, runS - from);
        openS += seconds;
        const at = classOf(seconds);
        openClasses[at] = (openClasses[at] as number) + 1;
        open.push({
          env_id: env,
          from_s: round(from),
          seconds: round(seconds),
          state: HEALTH_STATES[states[env] as number] as HealthState,
          open: true,
        });
      }
      return {
        times: times + open.length,
        total_s: round(totalS + openS),
        classes: openClasses,
        longest: sorted([...longest, ...open]).slice(0, LONGEST),
      };
    },
  };
}

function sorted(gaps: Gaps['longest']): Gaps['longest'] {
  return gaps.sort((a, b) => b.seconds - a.seconds || a.env_id - b.env_id);
}

function classOf(seconds: number): number {
  const at = GAP_EDGES_S.findIndex((edge) => seconds < edge);
  return at < 0 ? GAP_EDGES_S.length : at;
}

const round = (s: number): number => Math.max(0, Math.round(s * 10) / 10);
