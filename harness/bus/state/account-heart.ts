// The heartbeat of mode `account`: a worker writes "I was alive now" to the state store every ten seconds (the plan's `beatSeconds`), by a
// timer, as the account had it. It says that a timer runs, not that envs step, and it is silent when Redis is: mode `account` exists to show what follows from that.
import { BEAT_ENVIRONMENT } from './redis-address.js';
import { openRedisStateStore } from './redis-state-store.js';
import type { StateStore } from './state-store.js';

/** After a beat that nobody received. */
const AGAIN_MS = 1_000;

/** Fits `Heart` of harness/worker. */
export interface AccountHeart {
  start(worker: number, epoch: number): void;
  stop(): void;
  counts(): { readonly sent: number; readonly lost: number };
}

export interface AccountHeartOptions {
  readonly store: Pick<StateStore, 'writeBeat' | 'close'>;
  readonly everyMs: number;
  /** Wall clock: the account compared clocks of processes by it. */
  readonly nowMs?: () => number;
}

export function createAccountHeart({ store, everyMs, nowMs = Date.now }: AccountHeartOptions): AccountHeart {
  const counts = { sent: 0, lost: 0 };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const beat = async (worker: number): Promise<void> => {
    let nextMs = everyMs;
    try {
      await store.writeBeat(worker, nowMs());
      counts.sent++;
    } catch {
      counts.lost++;
      nextMs = Math.min(everyMs, AGAIN_MS);
    }
    if (!stopped) timer = setTimeout(() => void beat(worker), nextMs);
  };
  return {
    start: (worker) => void beat(worker),
    stop() {
      stopped = true;
      clearTimeout(timer);
      store.close();
    },
    counts: () => ({ ...counts }),
  };
}

/** The heart of a worker process whose plan says `health.mode: account`; undefined when its environment names no Redis. */
export function accountHeartFrom(environment: NodeJS.ProcessEnv, runId: string, worker: number, everyMs: number): AccountHeart | undefined {
  const url = environment[BEAT_ENVIRONMENT.url];
  if (url === undefined || url === '') return undefined;
  const prefix = environment[BEAT_ENVIRONMENT.prefix] ?? 'envladder';
  const store = openRedisStateStore({ url, prefix, runId, role: `worker-${worker}` });
  return createAccountHeart({ store, everyMs });
}
