// The cgroups of one run: `envladder-...` beside the supervisor's own, a `worker-N` in it for each process. Made by the supervisor at start,
// removed at stop; what dead runs left is cleared first. A machine without them, or without some of their controllers, runs all the same.
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCgroupFile, readWords, writeCgroupFile } from './cgroup-files.js';
import { cgroupName, isOwnerDead } from './cgroup-name.js';
import { findCgroupPlace } from './cgroup-place.js';
import { openSeatCgroup, type SeatCgroup } from './seat-cgroup.js';

/** Controllers that limits and OOM counts need; freezing and killing need none. */
const CONTROLLERS = ['cpu', 'memory'] as const;

export interface SeatCgroupsOptions {
  readonly runId: string;
  /** `/`, or the tree of a test. */
  readonly root?: string;
  readonly pid?: number;
  /** Tests stand in for the kernel, which fills a new folder with files. */
  readonly makeFolder?: (path: string) => void;
  readonly removeFolder?: (path: string) => void;
}

export interface SeatCgroups {
  /** The group of process `host` (a seat's `host` in the block plan), made when first asked for; null where there is no cgroup v2. */
  seat(host: number): SeatCgroup | null;
  /** What is missing and what that means, in one sentence; null when all is there. */
  readonly degraded: string | null;
  /** The run's own folder; null where there is none. */
  readonly folder: string | null;
  /** Kills what is left inside and removes the folders. Call when all children are gone. */
  close(): void;
}

/** Removes one folder and whoever is left in it, but never this process. */
function removeFolderOf(path: string, remove: (path: string) => void): void {
  if (readWords(path, 'cgroup.procs').includes(String(process.pid))) return;
  writeCgroupFile(path, 'cgroup.freeze', '0');
  writeCgroupFile(path, 'cgroup.kill', '1');
  try {
    remove(path);
  } catch {
    // The killed ones need a moment: the next start tries again.
  }
}

function removeChildren(folder: string, remove: (path: string) => void): void {
  for (const child of readdirSync(folder, { withFileTypes: true }))
    if (child.isDirectory()) removeFolderOf(join(folder, child.name), remove);
}

/** Clears what runs left whose supervisor is proven dead. */
function clearStale(parent: string, root: string, remove: (path: string) => void): void {
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (!entry.isDirectory() || !isOwnerDead(entry.name, root)) continue;
    removeChildren(join(parent, entry.name), remove);
    removeFolderOf(join(parent, entry.name), remove);
  }
}

function nothing(degraded: string): SeatCgroups {
  return { seat: () => null, degraded, folder: null, close: () => undefined };
}

/**
 * Hands controllers down from `parent`, which may hold no process for that unless it is the root. A parent with nobody in it but this
 * process lets it move: into `leaf`. Returns how to undo it.
 */
function handDown(parent: string, isRoot: boolean, leaf: string, pid: number, wanted: readonly string[]): () => void {
  const grant = (): boolean => writeCgroupFile(parent, 'cgroup.subtree_control', wanted.map((name) => `+${name}`).join(' '));
  const before = readWords(parent, 'cgroup.subtree_control');
  const added = wanted.filter((name) => !before.includes(name));
  if (added.length === 0) return () => undefined;
  const take = (): void => void writeCgroupFile(parent, 'cgroup.subtree_control', added.map((name) => `-${name}`).join(' '));
  if (grant()) return take;
  const alone = readWords(parent, 'cgroup.procs').every((each) => Number(each) === pid);
  if (isRoot || !alone || !writeCgroupFile(leaf, 'cgroup.procs', String(pid))) return () => undefined;
  const back = (): void => void writeCgroupFile(parent, 'cgroup.procs', String(pid));
  if (!grant()) {
    back();
    return () => undefined;
  }
  return () => {
    take();
    back();
  };
}

/** Never throws: what cannot be had is in `degraded`. */
export function openSeatCgroups(options: SeatCgroupsOptions): SeatCgroups {
  const { root = '/', pid = process.pid, makeFolder = mkdirSync, removeFolder = rmdirSync } = options;
  const place = findCgroupPlace(root);
  if ('problem' in place)
    return nothing(`${place.problem}: workers are neither frozen nor limited as groups, and the kernel's OOM kills are not counted`);
  const folder = join(place.folder, cgroupName(options.runId, pid, root));
  const self = join(folder, 'supervisor');
  try {
    clearStale(place.folder, root, removeFolder);
    makeFolder(folder);
    makeFolder(self);
  } catch (error) {
    return nothing(
      `cgroup folders cannot be made in ${place.folder} (${(error as Error).message}): workers are neither frozen nor limited as groups`,
    );
  }
  const wanted = CONTROLLERS.filter((name) => place.controllers.includes(name));
  const undo = wanted.length === 0 ? () => undefined : handDown(place.folder, place.isRoot, self, pid, wanted);
  const reached = readWords(folder, 'cgroup.controllers');
  const granted = wanted.filter((name) => reached.includes(name));
  if (granted.length > 0) writeCgroupFile(folder, 'cgroup.subtree_control', granted.map((name) => `+${name}`).join(' '));
  const missing: string[] = CONTROLLERS.filter((name) => !granted.includes(name)).map((name) => `the ${name} controller`);
  if (!hasCgroupFile(folder, 'cgroup.freeze')) missing.push('cgroup.freeze');
  if (!hasCgroupFile(folder, 'cgroup.kill')) missing.push('cgroup.kill');

  const seats = new Map<number, SeatCgroup | null>();
  return {
    folder,
    degraded:
      missing.length === 0
        ? null
        : `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not to be had in ${place.folder}: what needs ${missing.length === 1 ? 'it' : 'them'} is left out (start under systemd-run --user --scope -p Delegate=yes, or delegate a folder)`,
    seat(host) {
      const known = seats.get(host);
      if (known !== undefined) return known;
      const path = join(folder, `worker-${host}`);
      let made: SeatCgroup | null = null;
      try {
        makeFolder(path);
        made = openSeatCgroup(path);
      } catch {
        // cgroup.max.descendants, or the folder was taken away from outside: the process stays where it is.
      }
      seats.set(host, made);
      return made;
    },
    close() {
      for (const each of seats.values()) if (each !== null) removeFolderOf(each.folder, removeFolder);
      // Controllers are taken back from below: the kernel refuses while a folder beneath still uses them.
      if (granted.length > 0) writeCgroupFile(folder, 'cgroup.subtree_control', granted.map((name) => `-${name}`).join(' '));
      undo();
      try {
        removeChildren(folder, removeFolder);
        removeFolder(folder);
      } catch {
        // Gone already, or somebody is still in it: the next start clears it.
      }
    },
  };
}
