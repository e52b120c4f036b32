// How long the supervisor waits for a child to say something. Counts observed time only: while the supervisor itself is busy (allocating
// hundreds of gigabytes takes minutes) or the machine sleeps, nobody's patience runs out.
import { monotonicMs } from './clock.js';

export interface Patience {
  /** The child spoke: waiting starts anew, with another limit if one is given. */
  renew(limitMs?: number): void;
  end(): void;
}

const LONGEST_TICK_MS = 500;

/** Calls `onOver` once when nothing renewed it for `limitMs` of observed time. */
export function startPatience(limitMs: number, onOver: () => void, now: () => number = monotonicMs): Patience {
  const tickMs = Math.min(LONGEST_TICK_MS, limitMs / 4);
  let limit = limitMs;
  let waitedMs = 0;
  let lastMs = now();
  let ended = false;
  const timer = setInterval(() => {
    const nowMs = now();
    waitedMs += Math.min(nowMs - lastMs, 2 * tickMs);
    lastMs = nowMs;
    if (ended || waitedMs < limit) return;
    ended = true;
    clearInterval(timer);
    onOver();
  }, tickMs);
  return {
    renew(next) {
      waitedMs = 0;
      limit = next ?? limit;
    },
    end() {
      ended = true;
      clearInterval(timer);
    },
  };
}
