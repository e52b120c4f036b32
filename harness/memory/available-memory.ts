// How many bytes this process may still fill before the kernel starts killing: what the machine has free, and what every cgroup above
// us still allows. Shared memory of a memfd never answers ENOSPC, so this is asked before pages are taken.
import { readFileSync } from 'node:fs';

/** Reads a file as text, undefined when it cannot. */
export type ReadText = (path: string) => string | undefined;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** MemAvailable, lowered by memory.max - memory.current of each cgroup (v2) from ours to the root. Infinity when nothing can be read. */
export function availableBytes(read: ReadText = readText): number {
  const meminfo = /^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo') ?? '');
  let available = meminfo ? Number(meminfo[1]) * 1024 : Number.POSITIVE_INFINITY;
  let group = /^0::(.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1];
  while (group !== undefined) {
    const folder = `/sys/fs/cgroup${group === '/' ? '' : group}`;
    const max = Number((read(`${folder}/memory.max`) ?? 'max').trim());
    const current = Number((read(`${folder}/memory.current`) ?? '0').trim());
    // 'max' is not a number: no limit here.
    if (Number.isFinite(max) && Number.isFinite(current)) available = Math.min(available, Math.max(0, max - current));
    group = group === '/' || group === '' ? undefined : group.slice(0, group.lastIndexOf('/')) || '/';
  }
  return available;
}
