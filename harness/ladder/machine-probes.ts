// The real probes behind pre-flight: read from /proc, the cgroups and the file system in a few milliseconds, nothing is started.
// A probe that cannot find out says so and never refuses.
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Plan } from '../contract/plan.js';
import { findCgroupPlace } from '../supervisor/cgroup-place.js';
import { addonProblem } from './addon-probe.js';
import { backendFound, backendProblem } from './backend-probe.js';
import { type CgroupRoom, cgroupRoom, type ReadText } from './cgroup-limits.js';
import type { MachineProbes } from './preflight.js';

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Soft limit of a line of /proc/self/limits; null when the file does not say. */
export function softLimit(limits: string | undefined, name: string): number | null {
  const line = (limits ?? '').split('\n').find((each) => each.startsWith(name));
  const soft = line?.slice(name.length).trim().split(/\s+/)[0];
  if (soft === undefined) return null;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

function availableMemory(): number | null {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** RLIMIT_NPROC counts the user's tasks on the whole machine. */
function tasksOfUser(uid: number): number {
  let tasks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = readText(`/proc/${name}/status`);
    if (status === undefined || Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) !== uid) continue;
    tasks += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return tasks;
}

function taskRoom(limits: string | undefined, room: CgroupRoom): { tasks: number | null; limitedBy: string } {
  const uid = process.getuid?.() ?? 0;
  const limit = softLimit(limits, 'Max processes');
  // Root is not bound by RLIMIT_NPROC.
  const ofUser = limit === null || uid === 0 || limit === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : limit - tasksOfUser(uid);
  if (room.tasks <= ofUser)
    return { tasks: room.tasks, limitedBy: room.tasks === Number.POSITIVE_INFINITY ? '' : 'pids.max of the cgroup' };
  return { tasks: Math.max(0, ofUser), limitedBy: 'ulimit -u' };
}

/** Free bytes for ordinary users where `path` will be: of the nearest folder that exists. */
function freeDisk(path: string): { bytes: number | null; path: string } {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      const facts = statfsSync(folder);
      // Kernel file systems (/proc, /sys) report no blocks at all: the run folder's own check speaks for them.
      return { bytes: facts.blocks === 0 ? null : facts.bavail * facts.bsize, path: folder };
    } catch {
      if (folder === dirname(folder)) return { bytes: null, path: folder };
    }
  }
}

/** Controllers of our own cgroup folder. Whether they can be handed down shows only when it is tried, at the start of the run. */
function cgroupControllers(): Pick<MachineProbes, 'controllers' | 'controllersProblem'> {
  const place = findCgroupPlace();
  return 'problem' in place
    ? { controllers: null, controllersProblem: place.problem }
    : { controllers: place.controllers, controllersProblem: null };
}

/** Looks at the machine as it is now. `outDir` is where the run folder will be. */
export function probeMachine(plan: Pick<Plan, 'backend' | 'learner'>, outDir: string): MachineProbes {
  const limits = readText('/proc/self/limits');
  const room = cgroupRoom(readText);
  const available = availableMemory();
  const cgroupIsLess = room.memoryBytes < (available ?? Number.POSITIVE_INFINITY);
  const tasks = taskRoom(limits, room);
  const disk = freeDisk(outDir);
  return {
    cores: availableParallelism(),
    memoryBytes: cgroupIsLess ? room.memoryBytes : available,
    memoryLimitedBy: cgroupIsLess ? 'left in the cgroup' : 'available',
    openFiles: softLimit(limits, 'Max open files'),
    tasks: tasks.tasks,
    tasksLimitedBy: tasks.limitedBy,
    fileSizeBytes: softLimit(limits, 'Max file size'),
    addressSpaceBytes: softLimit(limits, 'Max address space'),
    diskBytes: disk.bytes,
    diskPath: disk.path,
    node: process.version,
    os: process.platform,
    addonProblem: addonProblem(),
    backend: plan.learner === 'ppo' ? plan.backend : `none (learner ${plan.learner})`,
    backendFound: plan.learner === 'ppo' ? backendFound(plan.backend) : null,
    ...cgroupControllers(),
    backendProblem: plan.learner === 'ppo' ? backendProblem(plan.backend) : null,
  };
}
