// The account's way to notice a dead worker, for comparison (`health.mode: account`): every 30 s read all heartbeats from Redis, and take a
// worker for dead whose newest is older than 90 s. It is blind for up to 120 s, and it cannot tell a Redis that is away from workers that
// are: both are an absence of heartbeats. That is kept as it was, because it is what the comparison shows.
import type { StateStore } from '../bus/state/state-store.js';
import type { CrewEvent } from './crew.js';
import type { CrewDetector } from './post.js';

export interface SeenSeat {
  readonly worker: number;
  /** When this life of it was first seen: it gets the whole limit for its first beat. */
  readonly sinceMs: number;
}

export interface DeadByHeartbeat {
  readonly worker: number;
  readonly silentMs: number;
}

/** Workers whose newest heartbeat is older than the limit. Pure. All times are wall clock. */
export function judgeHeartbeats(
  nowMs: number,
  limitMs: number,
  seats: readonly SeenSeat[],
  beats: ReadonlyMap<number, number>,
): readonly DeadByHeartbeat[] {
  return seats.flatMap(({ worker, sinceMs }) => {
    const silentMs = nowMs - Math.max(sinceMs, beats.get(worker) ?? Number.NEGATIVE_INFINITY);
    return silentMs > limitMs ? [{ worker, silentMs }] : [];
  });
}

export interface AccountDetectorOptions {
  readonly store: Pick<StateStore, 'readBeats'>;
  readonly emit: (event: CrewEvent) => void;
  readonly scanEveryMs: number;
  readonly limitMs: number;
  readonly nowMs?: () => number;
}

type Post = Parameters<CrewDetector['start']>[0][number];

/** `kill` of a post does the rest: SIGTERM, the plan's `graceSeconds` (the account's: 5), SIGKILL, a new life into the id range. */
export function createAccountDetector(options: AccountDetectorOptions): CrewDetector {
  const { store, emit, scanEveryMs, limitMs, nowMs = Date.now } = options;
  /** By worker: the process it had at the last scan, and since when. */
  const lives = new Map<number, { readonly pid: number | null; readonly sinceMs: number }>();
  let beats: ReadonlyMap<number, number> = new Map();
  let unreadable = false;
  let scanning = false;
  let timer: NodeJS.Timeout | undefined;

  function seatsOf(posts: readonly Post[]): SeenSeat[] {
    return posts.flatMap(({ worker, pid, state }) => {
      if (state !== 'up') return [];
      let life = lives.get(worker);
      if (life === undefined || life.pid !== pid) {
        life = { pid, sinceMs: nowMs() };
        lives.set(worker, life);
      }
      return [{ worker, sinceMs: life.sinceMs }];
    });
  }

  async function scan(posts: readonly Post[]): Promise<void> {
    try {
      beats = await store.readBeats();
      unreadable = false;
    } catch (error) {
      if (!unreadable) {
        const message = `no heartbeats can be read: ${error instanceof Error ? error.message : String(error)}`;
        emit({ type: 'warning', message, detail: { mode: 'account' } });
      }
      unreadable = true;
    }
    if (timer === undefined) return;
    for (const { worker, silentMs } of judgeHeartbeats(nowMs(), limitMs, seatsOf(posts), beats)) {
      emit({
        type: 'worker-suspect',
        message: `worker ${worker} sent no heartbeat for ${(silentMs / 1000).toFixed(1)} s: it is taken for dead`,
        worker,
        detail: { mode: 'account', silent_ms: Math.round(silentMs) },
      });
      posts.find((post) => post.worker === worker)?.kill('heartbeat');
    }
  }

  return {
    start(posts) {
      seatsOf(posts);
      timer = setInterval(() => {
        if (scanning) return;
        scanning = true;
        void scan(posts).finally(() => {
          scanning = false;
        });
      }, scanEveryMs);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
