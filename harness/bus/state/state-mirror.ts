// Carries what the supervisor sees into the state store, once a second: the newest look wins, one write is under way at a time, and a look
// that found no room is counted, not kept. A store that is lost is said once and so is its return; a wiped one is noticed by its missing
// generation key and written anew in full. Nothing here ever rejects or waits on the caller.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { StateBatch, StateStore } from './state-store.js';

export type StateSnapshot = Omit<StateBatch, 'generation'>;

export interface StateMirrorOptions {
  readonly store: StateStore;
  /** Told once per loss and once per return. Fits CrewEvent. */
  readonly onEvent: (event: {
    readonly type: 'state-lost' | 'state-back';
    readonly message: string;
    readonly detail: Readonly<Record<string, unknown>>;
  }) => void;
  /** Everything is written at least this often; in between only the run, its workers and new scores. */
  readonly fullEveryMs?: number;
  readonly nowMs?: () => number;
}

export interface MirrorCounts {
  /** Looks given. */
  readonly offered: number;
  /** Writes that landed whole. */
  readonly written: number;
  readonly full: number;
  /** Looks that gave way to a newer one before they were written. */
  readonly superseded: number;
  /** Writes that nobody received, or whose answer did not come in time. */
  readonly failed: number;
  /** Writes that the store refused. */
  readonly refused: number;
}

export interface StateMirror {
  /** Takes a look; cheap, never throws. Parts that did not change since the last look may be left out. */
  offer(snapshot: StateSnapshot): void;
  /** Why the store is lost at present; null while it is not. */
  lost(): string | null;
  counts(): MirrorCounts;
  /** Ends when nothing is under way or pending any more, or after `limitMs`. Closes the store. */
  close(limitMs?: number): Promise<void>;
}

const FULL_EVERY_MS = 10_000;
const CLOSE_LIMIT_MS = 2_000;

export function createStateMirror(options: StateMirrorOptions): StateMirror {
  const { store, onEvent, fullEveryMs = FULL_EVERY_MS, nowMs = () => performance.now() } = options;
  const generation = randomUUID();
  const counts = { offered: 0, written: 0, full: 0, superseded: 0, failed: 0, refused: 0 };
  /** Newest of each part, for a full write. */
  let known: Pick<StateSnapshot, 'envs' | 'rewards' | 'scores'> = {};
  let pending: StateSnapshot | null = null;
  let busy = false;
  let closed = false;
  let over = false;
  let fullAtMs = Number.NEGATIVE_INFINITY;
  let writtenScores = 0;
  let lost: { readonly reason: string; readonly sinceMs: number; readonly missedBefore: number } | null = null;
  let idle: (() => void)[] = [];

  const missed = (): number => counts.failed + counts.refused + counts.superseded;

  function lose(reason: string): void {
    // What landed of it is not known.
    fullAtMs = Number.NEGATIVE_INFINITY;
    writtenScores = 0;
    if (lost !== null || over) return;
    lost = { reason, sinceMs: nowMs(), missedBefore: missed() - 1 };
    onEvent({
      type: 'state-lost',
      message: `the state store is lost: ${reason}; the run goes on without it`,
      detail: { reason, ...counts },
    });
  }

  function find(): void {
    if (lost === null) return;
    const seconds = (nowMs() - lost.sinceMs) / 1000;
    const looks = missed() - lost.missedBefore;
    const { reason } = lost;
    lost = null;
    onEvent({
      type: 'state-back',
      message: `the state store is back after ${seconds.toFixed(1)} s; ${looks} looks were not written`,
      detail: { seconds, missed: looks, reason, ...counts },
    });
  }

  async function write(snapshot: StateSnapshot): Promise<void> {
    const full = nowMs() - fullAtMs >= fullEveryMs;
    const parts = known;
    const scores = parts.scores !== undefined && parts.scores.version !== writtenScores ? parts.scores : undefined;
    try {
      const outcome = await store.write({
        generation,
        info: snapshot.info,
        workers: snapshot.workers,
        ...(full ? parts : scores === undefined ? {} : { scores }),
      });
      if (outcome.refused !== null) {
        counts.refused++;
        lose(outcome.refused);
        return;
      }
      counts.written++;
      if (full) {
        counts.full++;
        fullAtMs = nowMs();
      }
      if (full || scores !== undefined) writtenScores = parts.scores?.version ?? 0;
      if (!outcome.known && !full) {
        fullAtMs = Number.NEGATIVE_INFINITY;
        pending ??= snapshot;
      }
      find();
    } catch (error) {
      counts.failed++;
      lose(error instanceof Error ? error.message : String(error));
    }
  }

  async function pump(): Promise<void> {
    busy = true;
    while (pending !== null) {
      const next: StateSnapshot = pending;
      pending = null;
      await write(next);
    }
    busy = false;
    for (const done of idle) done();
    idle = [];
  }

  return {
    offer(snapshot) {
      if (closed) return;
      counts.offered++;
      if (pending !== null) counts.superseded++;
      const { envs = known.envs, rewards = known.rewards, scores = known.scores } = snapshot;
      known = {
        ...(envs === undefined ? {} : { envs }),
        ...(rewards === undefined ? {} : { rewards }),
        ...(scores === undefined ? {} : { scores }),
      };
      pending = snapshot;
      if (!busy) void pump();
    },
    lost: () => lost?.reason ?? null,
    counts: () => ({ ...counts }),
    async close(limitMs = CLOSE_LIMIT_MS) {
      closed = true;
      if (busy) {
        let timer: NodeJS.Timeout | undefined;
        await Promise.race([
          new Promise<void>((done) => idle.push(done)),
          new Promise<void>((done) => {
            timer = setTimeout(done, limitMs);
          }),
        ]);
        clearTimeout(timer);
      }
      over = true;
      store.close();
    },
  };
}
