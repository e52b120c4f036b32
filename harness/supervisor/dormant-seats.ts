// Seats whose processes are built and held still until their group's turn: frozen (cgroup.freeze, or SIGSTOP without cgroups) or throttled
// (a quota of CPU and memory). The tier start puts them to sleep and wakes them; the watch asks `has`, because their stamps say nothing.
import type { Progress } from '../memory/control.js';
import type { SeatCgroup } from './seat-cgroup.js';
import type { Dormancy } from './seat-plan.js';

/** The account's dormant group: 1 % of a core and 512 MB. */
export const DORMANT_CPU_SHARE = 0.01;
export const DORMANT_MEMORY_BYTES = 512 * 2 ** 20;
/** A woken process that has not stamped again by then is judged like any other. */
const WAKING_MS = 5000;

export interface DormantSeat {
  readonly seat: number;
  readonly pid: number;
  readonly cgroup: SeatCgroup | null;
}

export interface DormantSeats {
  /** True while the seat sleeps, and after it woke until its process has stamped its line again. */
  has(seat: number): boolean;
  /** False when the seat's process cannot be held that way; then it goes on as it is. */
  sleep(how: Exclude<Dormancy, null>, at: DormantSeat): boolean;
  /** Does nothing to a seat that does not sleep. */
  wake(seat: number): void;
  /** Before a stop: who stands still hears nothing. */
  wakeAll(): void;
}

export interface DormantPorts {
  readonly progress: (seat: number) => Pick<Progress, 'nativeMs' | 'loopMs'>;
  readonly nowMs: () => number;
  /** Sends a signal to the process group `leader` leads; false when there is none. */
  readonly signal: (leader: number, signal: 'SIGSTOP' | 'SIGCONT') => boolean;
}

/** Children lead process groups of their own, so that what their envs started stands still too. */
export function signalGroup(leader: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Holds one process; returns what lets it go, or null when it cannot be held. */
function hold(how: Exclude<Dormancy, null>, { pid, cgroup: group }: DormantSeat, { signal }: DormantPorts): (() => void) | null {
  // An empty group freezes as willingly as a full one.
  const cgroup = group?.holds(pid) === true ? group : null;
  if (how === 'throttled') {
    const limits = { cpuShare: DORMANT_CPU_SHARE, memoryHighBytes: DORMANT_MEMORY_BYTES };
    if (cgroup?.limit(limits) === true) return () => void cgroup.limit(null);
    cgroup?.limit(null);
    return null;
  }
  if (cgroup?.freeze(true) === true) return () => void cgroup.freeze(false);
  return signal(pid, 'SIGSTOP') ? () => void signal(pid, 'SIGCONT') : null;
}

export function createDormantSeats(ports: DormantPorts): DormantSeats {
  const asleep = new Map<number, () => void>();
  const wokenMs = new Map<number, number>();

  function wake(seat: number): void {
    const release = asleep.get(seat);
    if (release === undefined) return;
    asleep.delete(seat);
    wokenMs.set(seat, ports.nowMs());
    release();
  }

  return {
    has(seat) {
      if (asleep.has(seat)) return true;
      const sinceMs = wokenMs.get(seat);
      if (sinceMs === undefined) return false;
      const { nativeMs, loopMs } = ports.progress(seat);
      if (Math.min(nativeMs, loopMs) < sinceMs && ports.nowMs() - sinceMs < WAKING_MS) return true;
      wokenMs.delete(seat);
      return false;
    },
    sleep(how, at) {
      // A new life of a sleeping seat is held anew: what held the old one went with it, or still holds the group.
      const release = hold(how, at, ports);
      if (release === null) return false;
      asleep.set(at.seat, release);
      return true;
    },
    wake,
    wakeAll() {
      for (const seat of [...asleep.keys()]) wake(seat);
    },
  };
}
