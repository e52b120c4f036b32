// How busy the machine was with other people's work while a window was measured: /proc/stat less the CPU time of this process and
// all its descendants. A figure taken beside a busy neighbour is a figure about the neighbour. Clock: USER_HZ ticks (10 ms).
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports /proc times in 1/100 s on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;

/** Busy ticks of the whole machine (user, nice, system, irq, softirq, steal), from the text of /proc/stat. */
export function parseBusyTicks(procStat: string): number {
  const fields = (procStat.split('\n', 1)[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  return user + nice + system + irq + softirq + steal;
}

export interface ProcessTimes {
  /** User and system ticks of the process itself plus those of its children that ended and were waited for. */
  readonly ticks: number;
  readonly parentPid: number;
}

/** From the text of /proc/<pid>/stat. The command name may hold spaces and brackets, so fields count from the last ')'. */
export function parseProcessTimes(procPidStat: string): ProcessTimes {
  const fields = procPidStat.slice(procPidStat.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index]);
  return { parentPid: at(1), ticks: at(11) + at(12) + at(13) + at(14) };
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

/** This process and its descendants. A process that ends meanwhile is left out: its time turns up in its parent's. */
export function processTree(root: number = process.pid): number[] {
  const pids = [root];
  for (let i = 0; i < pids.length; i++) {
    let tasks: string[] = [];
    try {
      tasks = readdirSync(`/proc/${pids[i]}/task`);
    } catch {}
    for (const task of tasks) {
      for (const child of readOr(`/proc/${pids[i]}/task/${task}/children`, '').split(' ')) if (child !== '') pids.push(Number(child));
    }
  }
  return pids;
}

function treeTicks(): number {
  let ticks = 0;
  for (const pid of processTree()) {
    const text = readOr(`/proc/${pid}/stat`, '');
    if (text !== '') ticks += parseProcessTimes(text).ticks;
  }
  return ticks;
}

/** Nanoseconds on a CPU by live thread of a process, from schedstat; empty once it is gone. */
export function threadCpuNs(pid: number): Map<string, number> {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {}
  return new Map(threads.map((thread) => [thread, Number(readOr(`/proc/${pid}/task/${thread}/schedstat`, '0').split(' ', 1)[0])]));
}

/** CPU nanoseconds of a process since `before`. A thread that ended meanwhile takes its share with it, but never what it used earlier. */
export function cpuNsSince(pid: number, before: ReadonlyMap<string, number>): number {
  let ns = 0;
  for (const [thread, now] of threadCpuNs(pid)) ns += Math.max(0, now - (before.get(thread) ?? 0));
  return ns;
}

export interface LoadMonitor {
  /** Starts a window. */
  start(): void;
  /** Cores in use since `start` by everything that is not this process tree. */
  foreignCores(): number;
}

/** The machine's own counters. */
export function createLoadMonitor(): LoadMonitor {
  let wallMs = 0;
  let busy = 0;
  let own = 0;
  return {
    start() {
      busy = parseBusyTicks(readOr('/proc/stat', ''));
      own = treeTicks();
      wallMs = performance.now();
    },
    foreignCores() {
      const ownNow = treeTicks();
      const busyNow = parseBusyTicks(readOr('/proc/stat', ''));
      const seconds = (performance.now() - wallMs) / 1000;
      return Math.max(0, (busyNow - busy - (ownNow - own)) / TICKS_PER_SECOND / seconds);
    },
  };
}
