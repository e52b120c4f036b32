// What a worker says about itself once a second: memory, open files, how long its event loop was held, frames. It decides nothing; it is
// the application's view next to what kernel and progress line say. In a thread seat memory and files are the host process's.
import { readdirSync } from 'node:fs';
import { memoryUsage } from 'node:process';
import type { ChildReport } from '../contract/messages.js';

const EVERY_MS = 1000;

/** Open files of this process, or -1 where /proc does not say. The one that reads the list is not counted. */
export function countFds(): number {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return -1;
  }
}

export interface SelfReport {
  /** A turn of the event loop ended at `nowMs`; the one before ended `gapMs` earlier. */
  turned(nowMs: number, gapMs: number): void;
}

export function createSelfReport(send: (report: ChildReport) => void, frames: () => number, beganMs: number): SelfReport {
  let sentMs = beganMs;
  let loopLagMsMax = 0;
  return {
    turned(nowMs, gapMs) {
      if (gapMs > loopLagMsMax) loopLagMsMax = gapMs;
      if (nowMs - sentMs < EVERY_MS) return;
      sentMs = nowMs;
      const { rss, heapUsed } = memoryUsage();
      send({ rssBytes: rss, heapBytes: heapUsed, fds: countFds(), loopLagMsMax, frames: frames() });
      loopLagMsMax = 0;
    },
  };
}
