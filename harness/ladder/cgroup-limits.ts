// What the cgroups of this process still grant: the least over its own group and every one above it, for memory and tasks, in version 1
// and 2. Files enter through `read`, so that tests describe a hierarchy as a table.
import { dirname, join } from 'node:path';

/** Text of a file, or undefined when it is missing or unreadable. */
export type ReadText = (path: string) => string | undefined;

export interface CgroupRoom {
  readonly memoryBytes: number;
  readonly tasks: number;
}

/** cgroup v1 writes "no limit" as the largest page-aligned 63-bit number. */
const V1_UNLIMITED = 2 ** 62;

function numberIn(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const trimmed = text.trim();
  const value = trimmed === 'max' ? Number.POSITIVE_INFINITY : Number(trimmed);
  return Number.isFinite(value) && value < V1_UNLIMITED ? value : Number.POSITIVE_INFINITY;
}

/** File pages that the kernel gives up first are room, not use. */
function reclaimable(stat: string | undefined, key: string): number {
  const found = new RegExp(`^${key} (\\d+)$`, 'm').exec(stat ?? '');
  return found === null ? 0 : Number(found[1]);
}

interface Mount {
  readonly root: string;
  readonly point: string;
  readonly controllers: readonly string[];
  readonly version: 1 | 2;
}

function readMounts(read: ReadText): Mount[] {
  const mounts: Mount[] = [];
  for (const line of (read('/proc/self/mountinfo') ?? '').split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const [type, , options = ''] = right.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    const fields = left.split(' ');
    mounts.push({ root: fields[3] ?? '/', point: fields[4] ?? '', controllers: options.split(','), version: type === 'cgroup2' ? 2 : 1 });
  }
  return mounts;
}

/** The group's folder and all above it, up to the mount point. */
function foldersUp(mount: Mount, group: string): string[] {
  const inside = mount.root !== '/' && group.startsWith(mount.root) ? group.slice(mount.root.length) : group;
  const folders: string[] = [];
  for (let folder = join(mount.point, inside); folder.startsWith(mount.point); folder = dirname(folder)) {
    folders.push(folder);
    if (folder === mount.point || folder === '/') break;
  }
  return folders;
}

function roomOf(folder: string, version: 1 | 2, read: ReadText): CgroupRoom {
  const memory =
    version === 2
      ? numberIn(read(join(folder, 'memory.max'))) - used(read, folder, 'memory.current', 'inactive_file')
      : numberIn(read(join(folder, 'memory.limit_in_bytes'))) - used(read, folder, 'memory.usage_in_bytes', 'total_inactive_file');
  const tasks = numberIn(read(join(folder, 'pids.max'))) - Number(read(join(folder, 'pids.current')) ?? 0);
  return { memoryBytes: Math.max(0, memory), tasks: Math.max(0, tasks) };
}

function used(read: ReadText, folder: string, current: string, inactive: string): number {
  const bytes = Number(read(join(folder, current)) ?? 0);
  return bytes - Math.min(bytes, reclaimable(read(join(folder, 'memory.stat')), inactive));
}

/** Room left in this process's cgroups; Infinity where nothing limits. */
export function cgroupRoom(read: ReadText): CgroupRoom {
  const mounts = readMounts(read);
  let room: CgroupRoom = { memoryBytes: Number.POSITIVE_INFINITY, tasks: Number.POSITIVE_INFINITY };
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, names, ...path] = line.split(':');
    if (names === undefined || path.length === 0) continue;
    const version = names === '' ? 2 : 1;
    for (const mount of mounts) {
      if (mount.version !== version || (version === 1 && !names.split(',').every((name) => mount.controllers.includes(name)))) continue;
      for (const folder of foldersUp(mount, path.join(':'))) {
        const here = roomOf(folder, version, read);
        room = { memoryBytes: Math.min(room.memoryBytes, here.memoryBytes), tasks: Math.min(room.tasks, here.tasks) };
      }
    }
  }
  return room;
}
