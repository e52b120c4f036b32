// How long the supervisor waits for a child to say something. Counts observed time only: while the supervisor itself is busy (allocating
// hundreds of gigabytes takes minutes) or the machine sleeps, nobody's patience runs out.
import { monotonicMs } from './clock.js';

export interface Patience {
  /** The child spoke. */
  end(): void;
}

const LONGEST_TICK_MS = 500;

/** Calls `onOver` once after `limitMs` of observed time, unless it was ended before. */
export function startPatience(limitMs: number, onOver: () => void, now: () => number = monotonicMs): Patience {
  const tickMs = Math.min(LONGEST_TICK_MS, limitMs / 4);
  let waitedMs = 0;
  let lastMs = now();
  let ended = false;
  const timer = setInterval(() => {
    const nowMs = now();
    waitedMs += Math.min(nowMs - lastMs, 2 * tickMs);
    lastMs = nowMs;
    if (ended || waitedMs < limitMs) return;
    ended = true;
    clearInterval(timer);
    onOver();
  }, tickMs);
  return {
    end() {
      ended = true;
      clearInterval(timer);
    },
  };
}
