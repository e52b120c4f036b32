// How the learner shows that it lives: a native beat and a stamp per turn of the event loop on its line of the control page, read by the
// supervisor, and once a second a report of what it uses. The stamps decide, the report is for people.
import { readdirSync } from 'node:fs';
import type { ChildReport } from '../contract/messages.js';
import type { Control } from '../memory/control.js';

/** Of the native thread: a stale stamp means a stopped or starved process. */
const BEAT_MS = 50;

export interface VitalSigns {
  /** The event loop has just turned. */
  turn(): void;
  /** `frames`: taken in this life. The longest delay of the event loop counts from report to report. */
  report(frames: number): ChildReport;
  end(): void;
}

/** Begins to stamp line `line` of the control page, as life `life`. */
export function startVitalSigns(control: Control, line: number, life: number, nowMs: () => number): VitalSigns {
  const words = control.progressWords(line);
  const stamps = control.stampWords(line);
  const endBeat = control.beat(line, BEAT_MS);
  let turnedMs = nowMs();
  let lagMs = 0;
  words[4] = life;
  words[5] = process.pid;
  stamps[1] = turnedMs;
  return {
    turn() {
      const now = nowMs();
      lagMs = Math.max(lagMs, now - turnedMs);
      turnedMs = now;
      words[2] = ((words[2] as number) + 1) | 0;
      stamps[1] = now;
    },
    report(frames) {
      const { rss, heapUsed } = process.memoryUsage();
      words[3] = frames | 0;
      const report = { rssBytes: rss, heapBytes: heapUsed, fds: openFds(), loopLagMsMax: lagMs, frames };
      lagMs = 0;
      return report;
    },
    end: endBeat,
  };
}

/** 0 where /proc does not say. */
function openFds(): number {
  try {
    // One of them is this look's own.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return 0;
  }
}
