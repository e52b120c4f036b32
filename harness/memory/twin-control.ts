// The twin's control page and its bells, which never sleep. Its beat needs the event loop: who must see a blocked loop beside a living native
// thread writes the stamps himself.
import type { Control } from './control.js';
import { PROGRESS_LINE_BYTES } from './layout.js';
import { checkBeat, noSuchLine } from './native-control.js';
import { progressLine, readProgress, STAMP } from './progress-line.js';

export function twinBell() {
  let rings = 0;
  let seen = 0;
  return {
    ring() {
      rings++;
    },
    wait() {
      const rang = rings !== seen;
      seen = rings;
      return rang;
    },
  };
}

export function twinControl(lines: number, nowMs: () => number): Control {
  const bell = twinBell();
  const views = Array.from({ length: lines }, () => progressLine(new ArrayBuffer(PROGRESS_LINE_BYTES), 0));
  for (const { words } of views) words[0] = -1;
  const line = (worker: number) => {
    const found = views[worker];
    if (!found) throw noSuchLine(worker, lines);
    return found;
  };
  const beats = new Map<number, NodeJS.Timeout>();
  let closed = false;
  return {
    fd: -1,
    progressWords: (worker) => line(worker).words,
    progress: (worker) => readProgress(line(worker), worker),
    stampWords: (worker) => line(worker).stamps,
    beat(worker, intervalMs) {
      const { stamps } = line(worker);
      checkBeat(worker, intervalMs, beats.has(worker), closed);
      const stamp = () => {
        stamps[STAMP.native] = nowMs();
      };
      stamp();
      const timer = setInterval(stamp, intervalMs).unref();
      beats.set(worker, timer);
      return () => {
        clearInterval(timer);
        if (beats.get(worker) === timer) beats.delete(worker);
      };
    },
    waitFrames: () => bell.wait(),
    ringFrames: () => bell.ring(),
    close() {
      closed = true;
      for (const timer of beats.values()) clearInterval(timer);
      beats.clear();
    },
  };
}
