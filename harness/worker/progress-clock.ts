// The worker's stamps in its progress line, in CLOCK_MONOTONIC milliseconds: `loop` at every turn of the event loop, `op` when an operation
// begins. `performance.now()` plus a constant is that clock, without a call into the addon. Written by this thread alone.

/** Word positions among the line's stamps. */
export const STAMP = { native: 0, loop: 1, op: 2 } as const;

export interface ProgressClock {
  readonly stamps: Float64Array;
  /** CLOCK_MONOTONIC minus `performance.now()` of this thread. */
  readonly offsetMs: number;
  /** Sets a stamp to `nowMs` of `performance.now()`, or to now. */
  stamp(word: number, nowMs?: number): void;
}

/** A pause between the two readings would pass for a difference of the clocks: the closest pair of a few counts. */
const TRIES = 5;

export function measureClockOffsetMs(): number {
  let best = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let i = 0; i < TRIES; i++) {
    const beforeMs = performance.now();
    const monotonicMs = Number(process.hrtime.bigint()) / 1e6;
    const tookMs = performance.now() - beforeMs;
    if (tookMs >= best) continue;
    best = tookMs;
    offsetMs = monotonicMs - (beforeMs + tookMs / 2);
  }
  return offsetMs;
}

export function createProgressClock(stamps: Float64Array): ProgressClock {
  const offsetMs = measureClockOffsetMs();
  return {
    stamps,
    offsetMs,
    stamp(word, nowMs = performance.now()) {
      stamps[word] = nowMs + offsetMs;
    },
  };
}
