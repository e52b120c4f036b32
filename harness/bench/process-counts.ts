// Open descriptors and private memory of a process, from /proc: counts, not times, so that nothing can disturb them.
import { readdirSync, readFileSync } from 'node:fs';

/** Open file descriptors of a process. */
export function openFds(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Bytes of private (anonymous) memory out of the text of smaps_rollup. */
export function parseAnonymousBytes(smapsRollup: string): number {
  return Number(/^Anonymous:\s+(\d+) kB$/m.exec(smapsRollup)?.[1] ?? 0) * 1024;
}

/** Private memory of a process in bytes: heap, stacks, code; no shared mapping counts. */
export function anonymousBytes(pid: number): number {
  return parseAnonymousBytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
}
