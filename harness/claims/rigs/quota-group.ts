// A control group of a claim's own with a CPU quota and a memory limit, as the account gives its dormant groups: of version 2 where its
// controllers are to be had, else of version 1, which throttles, charges and kills by the same code of the kernel.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSeatCgroups } from '../../supervisor/cgroup.js';

export interface QuotaGroup {
  readonly version: 1 | 2;
  /** Moves a process in, for the rest of its life. */
  enter(pid: number): void;
  /** `cpuShare` of one core; `memoryBytes`: above it the kernel kills. Null lifts both. */
  limit(limits: { readonly cpuShare: number; readonly memoryBytes: number } | null): void;
  /** What the group is charged with. */
  memoryBytes(): number;
  /** When nobody is in it any more. */
  close(): void;
}

const V1 = '/sys/fs/cgroup';
const NAME = /^envladder-claims-(\d+)-\d+$/;
const PERIOD_US = 100_000;
let groups = 0;

/** A string says why there is none. */
function openV2(name: string): QuotaGroup | string {
  const cgroups = openSeatCgroups({ runId: name });
  const group = cgroups.seat(0);
  if (group?.limits.cpu !== true || !group.limits.memory) {
    cgroups.close();
    return cgroups.degraded ?? 'the cpu and memory controllers of cgroup v2 are not to be had';
  }
  return {
    version: 2,
    enter(pid) {
      if (!group.enter(pid)) throw new Error(`process ${pid} could not be moved into ${group.folder}`);
    },
    limit(limits) {
      const asked = limits === null ? null : { cpuShare: limits.cpuShare, memoryMaxBytes: limits.memoryBytes };
      if (!group.limit(asked)) throw new Error(`${group.folder} takes no limits`);
    },
    memoryBytes: () => group.read().memoryBytes ?? Number.NaN,
    close: () => cgroups.close(),
  };
}

/** Empty folders of claims whose process is gone; a folder with somebody in it cannot be removed. */
function clearStale(): void {
  for (const controller of ['cpu', 'memory']) {
    for (const name of readdirSync(join(V1, controller))) {
      const pid = NAME.exec(name)?.[1];
      if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
      try {
        rmdirSync(join(V1, controller, name));
      } catch {
        // Somebody else was quicker, or its last process is just ending.
      }
    }
  }
}

function openV1(name: string): QuotaGroup {
  clearStale();
  const [cpu, memory] = [join(V1, 'cpu', name), join(V1, 'memory', name)];
  mkdirSync(cpu);
  try {
    mkdirSync(memory);
  } catch (error) {
    rmdirSync(cpu);
    throw error;
  }
  return {
    version: 1,
    enter(pid) {
      for (const folder of [cpu, memory]) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    },
    limit(limits) {
      writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(cpu, 'cpu.cfs_quota_us'), limits === null ? '-1' : String(Math.round(limits.cpuShare * PERIOD_US)));
      writeFileSync(join(memory, 'memory.limit_in_bytes'), limits === null ? '-1' : String(limits.memoryBytes));
    },
    memoryBytes: () => Number(readFileSync(join(memory, 'memory.usage_in_bytes'), 'utf8')),
    close() {
      // Pages that it was charged with go to the parent, or with who owns them.
      for (const folder of [cpu, memory]) rmdirSync(folder);
    },
  };
}

/** Throws the kernel's words where neither version is to be had. */
export function openQuotaGroup(): QuotaGroup {
  const name = `envladder-claims-${process.pid}-${groups++}`;
  const group = openV2(name);
  if (typeof group !== 'string') return group;
  if (!['cpu', 'memory'].every((controller) => existsSync(join(V1, controller, 'cgroup.procs')))) throw new Error(group);
  return openV1(name);
}

/** Why there can be none here, or null. */
export function quotaProblem(): string | null {
  try {
    const group = openQuotaGroup();
    try {
      group.limit({ cpuShare: 0.01, memoryBytes: 512 * 2 ** 20 });
      return null;
    } finally {
      group.close();
    }
  } catch (error) {
    return `no CPU quota and memory limit to be had: ${(error as Error).message}`;
  }
}
