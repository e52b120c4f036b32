// What a stopped rig may have left: memory objects, fds of this process, children and zombies, sockets, cgroups. Looked at before a rig is
// raised and after it was stopped; all of it from /proc and the file system, never from what the harness says about itself.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const COMPILER = 'esbuild';

export interface Leftovers {
  /** Open fds of this process by what they point to, numbers of pipes and sockets left out. */
  readonly fds: ReadonlyMap<string, number>;
  /** Children of this process, zombies included, and theirs. */
  readonly children: readonly number[];
}

function pidsOf(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Name, state letter, parent and start ticks; undefined when it is gone. */
export function statOf(pid: number): { name: string; state: string; parent: number; startTicks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      state: fields[0] ?? '?',
      parent: Number(fields[1]),
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}

/** Whether the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** What the open fds of a process point to. */
export function fdTargets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Processes that hold or map shared memory whose name begins with `mark`, this one left out. */
export function holdersOf(mark: string): number[] {
  const found: number[] = [];
  for (const pid of pidsOf()) {
    if (pid === process.pid || !isRunning(pid)) continue;
    try {
      if (readFileSync(`/proc/${pid}/maps`, 'utf8').includes(mark) || fdTargets(pid).some((target) => target.includes(mark)))
        found.push(pid);
    } catch {
      // Gone, or not ours to look at.
    }
  }
  return found;
}

/** Name of a worker's memory object in /proc. */
export function segmentMark(runId: string, worker?: number): string {
  return worker === undefined ? `memfd:envladder:${runId}:` : `memfd:envladder:${runId}:w${worker} `;
}

export function lookAround(): Leftovers {
  const fds = new Map<string, number>();
  for (const target of fdTargets(process.pid)) {
    const name = target.replace(/:\[\d+\]$/, '');
    fds.set(name, (fds.get(name) ?? 0) + 1);
  }
  const parents = new Map(pidsOf().map((pid) => [pid, statOf(pid)?.parent]));
  const children = [...parents.keys()].filter((pid) => {
    for (let at = parents.get(pid), depth = 0; at !== undefined && at > 1 && depth < 32; at = parents.get(at), depth++) {
      if (at === process.pid) return true;
    }
    return false;
  });
  return { fds, children };
}

/** Memory objects and sockets of a run that this process still holds, children that were not there before; sentences. */
export function leftSince(before: Leftovers, runId: string): string[] {
  const now = lookAround();
  const left: string[] = [];
  for (const [name, count] of now.fds) {
    const more = count - (before.fds.get(name) ?? 0);
    // Node keeps a few pipes and event fds of its own; memory objects, files and sockets of a rig must be gone.
    if (more > 0 && (name.includes(runId) || name === 'socket' || name.includes('pidfd'))) left.push(`${more} open ${name}`);
  }
  const known = new Set(before.children);
  for (const pid of now.children) {
    const stat = statOf(pid);
    // Run from sources, tsx keeps a compiler of its own and reaps it when it gets to it.
    if (known.has(pid) || stat === undefined || stat.name === COMPILER) continue;
    left.push(`child ${pid} (${stat.name}, ${stat.state})`);
  }
  const holders = holdersOf(segmentMark(runId));
  if (holders.length > 0) left.push(`shared memory held by ${holders.join(', ')}`);
  return left;
}

/** Cgroups whose path names the run. */
export function cgroupsOf(runId: string): string[] {
  const found: string[] = [];
  const walk = (dir: string, depth: number): void => {
    try {
      for (const entry of readdirSync(dir, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        const path = `${dir}/${entry.name}`;
        if (entry.name.includes(runId)) found.push(path);
        if (depth < 4) walk(path, depth + 1);
      }
    } catch {
      // Not there, or not ours.
    }
  };
  walk('/sys/fs/cgroup', 0);
  return found;
}
