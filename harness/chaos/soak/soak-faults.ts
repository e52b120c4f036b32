// The faults of a soak, and what each of them excuses: a death is a false kill unless a fault named its process. Worker 0 and the learner are
// never killed, so that there is a process whose memory can be followed from the first hour to the last.
import { pickOne } from '../seeded-random.js';

export const SOAK_FAULTS = ['kill', 'pause-one', 'pause-all', 'redis-outage'] as const;
export type SoakFault = (typeof SOAK_FAULTS)[number];

/** A pause that no deadline of the default plan may take for a death. */
export const PAUSE_MS = 5000;
export const REDIS_OUTAGE_MS = 20_000;

export interface SoakStrike {
  readonly fault: SoakFault;
  /** Seconds since the soak began. */
  readonly atS: number;
  readonly worker: number | null;
  readonly pids: readonly number[];
}

/** Live workers by seat. */
export type Seats = ReadonlyMap<number, number>;

/** The next fault; null when nobody is there to be struck. Pure but for `random`. */
export function chooseStrike(seats: Seats, redis: boolean, random: () => number, atS: number): SoakStrike | null {
  const faults = redis ? SOAK_FAULTS : SOAK_FAULTS.filter((fault) => fault !== 'redis-outage');
  const fault = pickOne(faults, random);
  if (fault === 'redis-outage') return { fault, atS, worker: null, pids: [] };
  if (seats.size === 0) return null;
  if (fault === 'pause-all') return { fault, atS, worker: null, pids: [...seats.values()] };
  const open = [...seats].filter(([worker]) => fault !== 'kill' || worker !== 0);
  if (open.length === 0) return null;
  const [worker, pid] = pickOne(open, random);
  return { fault, atS, worker, pids: [pid] };
}

export interface Death {
  readonly worker: number | null;
  readonly pid: number | null;
  readonly cause: string;
  readonly message: string;
}

/** Deaths that no strike excuses: only a process that was killed may be dead. Pure. */
export function falseKills(deaths: readonly Death[], strikes: readonly SoakStrike[]): Death[] {
  const killed = new Set(strikes.filter(({ fault }) => fault === 'kill').flatMap(({ pids }) => pids));
  return deaths.filter(({ pid, cause }) => !(pid !== null && killed.has(pid) && /SIGKILL/.test(cause)));
}
