// One process's cgroup: moves it in, freezes and kills all of it at once, limits it, and reads what the kernel counted there. Made by
// openSeatCgroups (cgroup.ts) for the posts. Everything works as far as the machine lets it, and says false or 0 where it does not.
import { hasCgroupFile, readAmount, readCounts, readWords, writeCgroupFile } from './cgroup-files.js';
import { type PressureSample, readPressure } from './pressure.js';

export interface CgroupLimits {
  /** Share of one core, 0.01 = 1 %. */
  readonly cpuShare?: number;
  /** Above it the kernel reclaims and slows down. */
  readonly memoryHighBytes?: number;
  /** Above it the kernel kills. */
  readonly memoryMaxBytes?: number;
}

/** What this machine lets us do with the group. */
export interface CgroupPowers {
  readonly freeze: boolean;
  readonly kill: boolean;
  readonly cpu: boolean;
  readonly memory: boolean;
}

export interface CgroupReading {
  readonly memoryBytes: number | null;
  readonly memoryMaxBytes: number | null;
  /** Most it ever held (Linux 5.19). */
  readonly memoryPeakBytes: number | null;
  readonly cpuUsageUs: number;
  readonly pressure: PressureSample;
}

export interface SeatCgroup {
  readonly folder: string;
  readonly limits: CgroupPowers;
  /** Moves a process in; what it starts later is born in. False when it is gone or may not be moved. */
  enter(pid: number): boolean;
  holds(pid: number): boolean;
  /** SIGKILL to everything in it at once, also to what an env started. */
  kill(): boolean;
  freeze(on: boolean): boolean;
  /** The kernel's word that everything in it stands still. */
  frozen(): boolean;
  /** Processes that the kernel killed for memory since the group was made. */
  oomKills(): number;
  /** Periods in which it ran out of its CPU quota. */
  throttled(): number;
  /** Sets these limits and lifts the others; null lifts all. False when a controller is missing. */
  limit(limits: CgroupLimits | null): boolean;
  read(): CgroupReading;
}

/** The kernel's own period; 1 % of it is its least quota, 1 ms. */
const CPU_PERIOD_US = 100_000;

const amount = (bytes: number | undefined): string => (bytes === undefined ? 'max' : String(Math.floor(bytes)));

export function openSeatCgroup(folder: string): SeatCgroup {
  const limits: CgroupPowers = {
    freeze: hasCgroupFile(folder, 'cgroup.freeze'),
    kill: hasCgroupFile(folder, 'cgroup.kill'),
    cpu: hasCgroupFile(folder, 'cpu.max'),
    memory: hasCgroupFile(folder, 'memory.high'),
  };
  return {
    folder,
    limits,
    enter: (pid) => writeCgroupFile(folder, 'cgroup.procs', String(pid)),
    holds: (pid) => readWords(folder, 'cgroup.procs').includes(String(pid)),
    kill: () => writeCgroupFile(folder, 'cgroup.kill', '1'),
    freeze: (on) => writeCgroupFile(folder, 'cgroup.freeze', on ? '1' : '0'),
    frozen: () => readCounts(folder, 'cgroup.events').frozen === 1,
    oomKills: () => readCounts(folder, 'memory.events').oom_kill ?? 0,
    throttled: () => readCounts(folder, 'cpu.stat').nr_throttled ?? 0,
    limit(wanted) {
      const { cpuShare, memoryHighBytes, memoryMaxBytes } = wanted ?? {};
      const quota = cpuShare === undefined ? 'max' : String(Math.max(1000, Math.round(cpuShare * CPU_PERIOD_US)));
      const cpu = limits.cpu && writeCgroupFile(folder, 'cpu.max', `${quota} ${CPU_PERIOD_US}`);
      const high = limits.memory && writeCgroupFile(folder, 'memory.high', amount(memoryHighBytes));
      const max = limits.memory && writeCgroupFile(folder, 'memory.max', amount(memoryMaxBytes));
      // What was not asked for need not be granted.
      return (cpu || cpuShare === undefined) && (high || memoryHighBytes === undefined) && (max || memoryMaxBytes === undefined);
    },
    read: () => ({
      memoryBytes: readAmount(folder, 'memory.current'),
      memoryMaxBytes: readAmount(folder, 'memory.max'),
      memoryPeakBytes: readAmount(folder, 'memory.peak'),
      cpuUsageUs: readCounts(folder, 'cpu.stat').usage_usec ?? 0,
      pressure: readPressure(folder),
    }),
  };
}
