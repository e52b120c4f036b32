// A soak's view of its ladder from outside: who lives where, told by the events in the run folder, and what each process uses, told by
// /proc. Adds deaths and restarts to the soak's state.
import type { ChildLadder } from '../child-ladder.js';
import type { EventTail } from '../event-tail.js';
import type { StoredEvent } from '../invariants/kept-events.js';
import { isRunning } from '../leftovers.js';
import { growthOf, keepSample, type ProcessSample, sampleProcess } from './process-samples.js';
import type { SoakReport } from './soak-report.js';
import { MOST_KEPT, type SoakState } from './soak-state.js';

export interface LadderWatch {
  look(atS: number): void;
  sample(atS: number): void;
  /** Live worker processes by seat. */
  seats(): ReadonlyMap<number, number>;
  measuring(): boolean;
  /** Measured seconds so far, over the tiers of this part. */
  measuredS(): number;
  tiersEnded(): number;
  growth(): SoakReport['growth'];
}

export function watchLadder(ladder: ChildLadder, tail: EventTail, state: SoakState): LadderWatch {
  const seats = new Map<number, number>();
  const followed = new Map<string, { pid: number; samples: ProcessSample[] }>([['supervisor', { pid: ladder.pid, samples: [] }]]);
  let liveMs: number | null = null;
  let doneMs = 0;
  let lastMs = 0;
  let ended = 0;

  function hear({ type, worker, run_ms, detail, message }: StoredEvent): void {
    const told = JSON.parse(detail ?? '{}') as { pid?: number; cause?: string };
    lastMs = Math.max(lastMs, run_ms);
    if (/^(worker|learner)-(started|restarted|replaced)$/.test(type) && told.pid !== undefined) {
      if (worker !== null) seats.set(worker, told.pid);
      followed.set(worker === null ? 'learner' : `worker ${worker}`, { pid: told.pid, samples: [] });
    }
    if (type === 'worker-restarted') state.restarts++;
    if (type === 'kills-suspended') state.suspensions++;
    if (type === 'worker-died' || type === 'learner-died') {
      state.deaths.push({ worker, pid: told.pid ?? null, cause: told.cause ?? '', message });
      if (state.deaths.length > MOST_KEPT) state.deaths.shift();
      if (worker !== null) seats.delete(worker);
    }
    if (type === 'tier-live') liveMs = run_ms;
    if (type === 'tier-ended' && liveMs !== null) {
      doneMs += run_ms - liveMs;
      liveMs = null;
      ended++;
    }
  }

  return {
    look() {
      for (const event of tail.next()) hear(event);
    },
    sample(atS) {
      // Before its first tier is live a run still opens and allocates.
      if (liveMs === null && ended === 0) return;
      for (const { pid, samples } of followed.values()) {
        const one = sampleProcess(pid, atS);
        if (one !== null) keepSample(samples, one);
      }
      const metrics = ladder.lastMetricsSeconds();
      if (metrics !== null) lastMs = Math.max(lastMs, metrics * 1000);
    },
    seats: () => new Map([...seats].filter(([, pid]) => isRunning(pid))),
    measuring: () => liveMs !== null,
    measuredS: () => (doneMs + (liveMs === null ? 0 : Math.max(0, lastMs - liveMs))) / 1000,
    tiersEnded: () => ended,
    growth: () => [...followed].map(([role, { pid, samples }]) => ({ role, pid, ...growthOf(samples) })),
  };
}
