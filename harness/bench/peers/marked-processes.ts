// The processes of one driver, wherever they went: every process that carries the driver's mark in its environment. A worker whose parent
// died belongs to init then and would escape a walk down the tree; its environment goes with it.
import { readdirSync, readFileSync } from 'node:fs';
import { readPssBytes } from '../../supervisor/role-memory.js';
import { parseProcessTimes } from '../cpu-load.js';

export const MARK_VARIABLE = 'ENVLADDER_PEER_MARK';
const TICKS_PER_SECOND = 100;

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended between the two looks, or is not ours to read.
    return '';
  }
}

function isZombie(pid: number): boolean {
  const stat = readOr(`/proc/${pid}/stat`);
  return stat === '' || stat.charAt(stat.lastIndexOf(')') + 2) === 'Z';
}

/** Pids of all live processes with this mark. */
export function markedPids(mark: string): number[] {
  const wanted = `${MARK_VARIABLE}=${mark}\0`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readOr(`/proc/${pid}/environ`).includes(wanted) && !isZombie(pid));
}

/** Sends a signal to each; those that are gone are passed over. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // ESRCH: it ended first.
    }
  }
}

/** PSS of all of them. */
export function pssOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readPssBytes(pid), 0);
}

/** CPU seconds that they have used so far, those of their children that ended included. */
export function cpuSecondsOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readOr(`/proc/${pid}/stat`);
    if (stat !== '') ticks += parseProcessTimes(stat).ticks;
  }
  return ticks / TICKS_PER_SECOND;
}
