// Pressure stall information: the share of time in which some or all tasks waited for CPU, memory or disk. Read from /proc/pressure (the
// machine) or a cgroup's *.pressure files (one run, one worker); tells a slow machine from a stuck worker. Null where the kernel has none.
import { join } from 'node:path';
import { readFileText } from './cgroup-files.js';

export interface PressureLine {
  /** Percent of the last 10, 60 and 300 seconds. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  /** Microseconds stalled since boot (or since the cgroup was made). */
  readonly totalUs: number;
}

/** `some`: at least one task waited. `full`: all of them did; kernels before 5.13 have none for the CPU. */
export interface Pressure {
  readonly some: PressureLine;
  readonly full: PressureLine | null;
}

export interface PressureSample {
  readonly cpu: Pressure | null;
  readonly memory: Pressure | null;
  readonly io: Pressure | null;
}

function parseLine(text: string, name: string): PressureLine | null {
  const found = new RegExp(`^${name} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`, 'm').exec(text);
  if (found === null) return null;
  return { avg10: Number(found[1]), avg60: Number(found[2]), avg300: Number(found[3]), totalUs: Number(found[4]) };
}

/** Null for anything that is not a pressure file. */
export function parsePressure(text: string): Pressure | null {
  const some = parseLine(text, 'some');
  return some === null ? null : { some, full: parseLine(text, 'full') };
}

/** Pressure of the machine, or of one cgroup when its folder is given. */
export function readPressure(cgroupFolder: string | null = null, root = '/'): PressureSample {
  const read = (resource: string): Pressure | null =>
    parsePressure(
      readFileText(cgroupFolder === null ? join(root, 'proc/pressure', resource) : join(cgroupFolder, `${resource}.pressure`)) ?? '',
    );
  return { cpu: read('cpu'), memory: read('memory'), io: read('io') };
}
