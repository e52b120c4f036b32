// Reads the kernel's CPU counters for machine-load.ts: /proc/stat for the CPUs this process may use, /proc/PID/stat for its own tree.
// A few milliseconds on a machine with thousands of processes, twice a tier. What cannot be read is null and judges nothing.
import { readdirSync, readFileSync } from 'node:fs';
import type { ReadText } from './cgroup-limits.js';
import type { LoadReading } from './machine-load.js';

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const listProc = (): readonly string[] => {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
};

/** "0-2,7" -> 0, 1, 2, 7 */
export function parseCpuList(text: string): Set<number> {
  const cpus = new Set<number>();
  for (const part of text.trim().split(',')) {
    const [first, last = first] = part.split('-').map(Number);
    for (let cpu = first ?? 0; cpu <= (last ?? -1); cpu++) cpus.add(cpu);
  }
  return cpus;
}

interface ProcessTicks {
  readonly parent: number;
  readonly ticks: number;
}

/** utime + stime + cutime + cstime; the name before them may hold anything, also brackets. */
function parseProcess(stat: string): ProcessTicks {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

/** CPU time of `root` and all below it, with that of children they have buried. */
function treeTicks(root: number, read: ReadText, pids: readonly string[]): number {
  const processes = new Map<number, ProcessTicks>();
  const children = new Map<number, number[]>();
  for (const name of pids) {
    const stat = read(`/proc/${name}/stat`);
    if (stat === undefined) continue;
    const one = parseProcess(stat);
    processes.set(Number(name), one);
    children.set(one.parent, [...(children.get(one.parent) ?? []), Number(name)]);
  }
  let ticks = 0;
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    ticks += processes.get(pid)?.ticks ?? 0;
    open.push(...(children.get(pid) ?? []));
  }
  return ticks;
}

function meanOf(values: readonly number[]): number | null {
  const found = values.filter(Number.isFinite);
  return found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0) / found.length;
}

function throttles(cpus: ReadonlySet<number>, read: ReadText): number | null {
  const counts = [...cpus].map((cpu) => read(`/sys/devices/system/cpu/cpu${cpu}/thermal_throttle/core_throttle_count`));
  const found = counts.filter((count) => count !== undefined).map(Number);
  return found.length === 0 ? null : found.reduce((sum, count) => sum + count, 0);
}

/** The counters now; null where /proc/stat is not to be had. */
export function readLoad(rootPid = process.pid, read: ReadText = readText, list: () => readonly string[] = listProc): LoadReading | null {
  const stat = read('/proc/stat');
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '')?.[1];
  if (stat === undefined || allowed === undefined) return null;
  const cpus = parseCpuList(allowed);
  let [totalTicks, busyTicks, stealTicks] = [0, 0, 0];
  const online = new Set<number>();
  for (const [, cpu, text] of stat.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (!cpus.has(Number(cpu))) continue;
    online.add(Number(cpu));
    // user nice system idle iowait irq softirq steal; guest time is in user already.
    const ticks = (text ?? '').split(' ').map(Number);
    totalTicks += ticks.slice(0, 8).reduce((sum, value) => sum + value, 0);
    busyTicks += ticks.slice(0, 3).reduce((sum, value) => sum + value, 0);
    stealTicks += ticks[7] ?? 0;
  }
  if (online.size === 0) return null;
  return {
    totalTicks,
    busyTicks,
    stealTicks,
    ownTicks: treeTicks(rootPid, read, list()),
    throttleEvents: throttles(online, read),
    meanMhz: meanOf([...(read('/proc/cpuinfo') ?? '').matchAll(/^cpu MHz\s*:\s*([\d.]+)$/gm)].map(([, mhz]) => Number(mhz))),
  };
}
