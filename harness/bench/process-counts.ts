// Open descriptors, private memory and read and write calls of a process, from /proc: counts, not times, so that nothing can disturb them.
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

/** Read and write calls out of the text of /proc/<pid>/io; null when it holds none. */
export function parseIoCalls(procIo: string): number | null {
  const count = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(procIo)?.[1] ?? Number.NaN);
  const calls = count('syscr') + count('syscw');
  return Number.isNaN(calls) ? null : calls;
}

/** Calls of the read and write families that this process has made; null where the kernel does not count them. Asking costs a few itself. */
export function ownIoCalls(): number | null {
  try {
    return parseIoCalls(readFileSync('/proc/self/io', 'utf8'));
  } catch {
    return null;
  }
}
