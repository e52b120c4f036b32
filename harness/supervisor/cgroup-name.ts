// Names of the cgroup folders of runs: who made one can be proven dead from its name alone. Pid and start time of the supervisor say who
// it is, the pid namespace says for whom that pid means anything. Pure but for /proc.
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readFileText } from './cgroup-files.js';

const NAME = /^envladder-(.+)-(\d+)-(\d+)-(\d+)$/;

/** Field 22 of /proc/PID/stat in clock ticks since boot; null when there is no such process. The command name may hold blanks and brackets. */
export function startTicks(pid: number, root = '/'): number | null {
  const stat = readFileText(join(root, `proc/${pid}/stat`));
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return ticks === undefined ? null : Number(ticks);
}

/** Number of the pid namespace: pids of another one say nothing here. 0 when it cannot be read. */
function pidNamespace(root: string): number {
  try {
    return Number(/\d+/.exec(readlinkSync(join(root, 'proc/self/ns/pid')))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/** Name of the folder of run `runId`, whose supervisor is `pid`. */
export function cgroupName(runId: string, pid: number, root = '/'): string {
  return `envladder-${runId}-${pidNamespace(root)}-${pid}-${startTicks(pid, root) ?? 0}`;
}

/** True only for a folder of this pid namespace whose maker is gone: no such pid, or one that started at another time. */
export function isOwnerDead(name: string, root = '/'): boolean {
  const [, , namespace, pid, ticks] = NAME.exec(name) ?? [];
  if (pid === undefined || Number(namespace) !== pidNamespace(root)) return false;
  return startTicks(Number(pid), root) !== Number(ticks);
}
