// The few files of a cgroup v2 folder that the supervisor reads and writes. Nothing here throws: a file that is not there reads as
// undefined, a write that the kernel refuses says false. What a machine lacks is thus found out by trying.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Text of a file, or undefined when it is missing or unreadable. */
export function readFileText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** False when the file is not there or the kernel refuses the value. The file is never created: cgroup files are the kernel's. */
export function writeCgroupFile(folder: string, name: string, value: string): boolean {
  try {
    writeFileSync(join(folder, name), value, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

export const hasCgroupFile = (folder: string, name: string): boolean => existsSync(join(folder, name));

/** A file of `key value` lines: memory.events, cpu.stat, cgroup.events. */
export function readCounts(folder: string, name: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of (readFileText(join(folder, name)) ?? '').split('\n')) {
    const [key, value] = line.split(' ');
    if (key !== undefined && value !== undefined && Number.isFinite(Number(value))) counts[key] = Number(value);
  }
  return counts;
}

/** A file of one number; `max` is Infinity, a missing file null. */
export function readAmount(folder: string, name: string): number | null {
  const text = readFileText(join(folder, name))?.trim();
  if (text === undefined || text === '') return null;
  return text === 'max' ? Number.POSITIVE_INFINITY : Number(text);
}

/** A file of words: cgroup.controllers, cgroup.procs. */
export function readWords(folder: string, name: string): string[] {
  return (readFileText(join(folder, name)) ?? '').split(/\s+/).filter((word) => word !== '');
}
