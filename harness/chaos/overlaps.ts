// Looks whether an earlier process of a seat still lives, and still holds the memory that its successor writes: two writers at once. Told
// by inode, from /proc: a replaced segment has another inode under the same name, and a zombie that keeps the old one harms nobody.
import { fstatSync, readdirSync, statSync } from 'node:fs';
import type { Segment } from '../memory/interface.js';
import { isRunning } from './leftovers.js';

function holdsInode(pid: number, inode: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return statSync(`/proc/${pid}/fd/${fd}`).ino === inode;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

const EVERY_MS = 100;

export interface OverlapWatch {
  /** Looks now, for one seat. */
  look(worker: number): void;
  readonly found: readonly string[];
  end(): void;
}

/** `pids`: processes a seat had, newest last. */
export function watchOverlaps(segments: ReadonlyMap<number, Segment>, pids: (worker: number) => readonly number[]): OverlapWatch {
  const found = new Map<string, string>();
  const look = (worker: number): void => {
    const all = pids(worker);
    const segment = segments.get(worker);
    if (all.length < 2 || segment === undefined) return;
    const inode = fstatSync(segment.fd).ino;
    for (const pid of all.slice(0, -1)) {
      // Threads of one host are lives of one process.
      if (pid !== all.at(-1) && isRunning(pid) && holdsInode(pid, inode)) {
        found.set(`${worker} ${pid}`, `worker ${worker}: process ${pid} still holds the segment beside its successor ${all.at(-1)}`);
      }
    }
  };
  const timer = setInterval(() => {
    for (const worker of segments.keys()) look(worker);
  }, EVERY_MS);
  return {
    look,
    get found() {
      return [...found.values()];
    },
    end: () => clearInterval(timer),
  };
}
