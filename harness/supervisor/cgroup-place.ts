// Where this process's cgroup v2 folder is, on pure and hybrid mounts, and whether folders may be made in it. `root` is `/`, or the tree
// of a test. Nothing is changed here.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { hasCgroupFile, readFileText, readWords } from './cgroup-files.js';

export type CgroupPlace =
  | {
      readonly folder: string;
      /** Controllers this folder may hand down. */
      readonly controllers: readonly string[];
      /** The root of the hierarchy may hold processes and hand controllers down at once; others may not. */
      readonly isRoot: boolean;
    }
  | { readonly problem: string };

/** Mounted path of the cgroup2 file system and the part of the hierarchy that is mounted there. */
function findMount(root: string): { point: string; top: string } | undefined {
  for (const line of (readFileText(join(root, 'proc/self/mountinfo')) ?? '').split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    if (!right.startsWith('cgroup2 ')) continue;
    const fields = left.split(' ');
    return { point: fields[4] ?? '/sys/fs/cgroup', top: fields[3] ?? '/' };
  }
  return undefined;
}

/** The cgroup v2 folder that process `pid` is in now; null where there is none. `own` is how the kernel names it. */
export function cgroupFolderOf(
  pid: number | 'self',
  root = '/',
): { readonly folder: string; readonly own: string; readonly point: string } | null {
  const own = /^0::(.*)$/m.exec(readFileText(join(root, `proc/${pid}/cgroup`)) ?? '')?.[1];
  const mount = findMount(root);
  if (own === undefined || mount === undefined) return null;
  const inside = mount.top !== '/' && own.startsWith(mount.top) ? own.slice(mount.top.length) : own;
  return { folder: join(root, mount.point, inside), own, point: mount.point };
}

/** The folder of this process, or why there is none to work with. */
export function findCgroupPlace(root = '/'): CgroupPlace {
  const found = cgroupFolderOf('self', root);
  if (found === null) return { problem: 'there is no cgroup v2 (version 1, or none, is mounted)' };
  const { folder, own, point } = found;
  if (!hasCgroupFile(folder, 'cgroup.procs')) return { problem: `the cgroup of this process (${own}) is not visible under ${point}` };
  try {
    // Permission bits do not bind root, so a read-only mount shows only here.
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK);
  } catch {
    return { problem: `the cgroup folder ${folder} is read-only for this process` };
  }
  return { folder, controllers: readWords(folder, 'cgroup.controllers'), isRoot: !hasCgroupFile(folder, 'cgroup.type') };
}
