// Who holds a run folder, told so that a recycled pid or a reboot cannot be taken for the owner: pid + start time + boot id, and the pid
// namespace, since pids of another container say nothing here. Read from /proc; Linux only, like the rest.
import { readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks between boot and the start of the process. */
  readonly start_ticks: number;
  readonly boot_id: string;
  /** Text of /proc/<pid>/ns/pid; undefined in records, which do not keep it. */
  readonly pid_namespace?: string | undefined;
}

/** `foreign`: it was started in another pid namespace, so that this process cannot tell. */
export type Liveness = 'alive' | 'dead' | 'foreign';

/** Start ticks of a process, or undefined when it is gone or only its zombie is left. */
export function startTicksOf(pid: number): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in brackets may hold spaces and brackets itself; fields are counted from the last one. State is field 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19]);
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    start_ticks: startTicksOf(process.pid) ?? 0,
    boot_id: readBootId(),
    pid_namespace: readNamespace(),
  };
}

/** Whether the process that `identity` names still runs. A pid that was given to another process counts as dead. */
export function judgeLiveness(identity: ProcessIdentity): Liveness {
  if (identity.boot_id !== readBootId()) return 'dead';
  if (identity.pid_namespace !== undefined && identity.pid_namespace !== readNamespace()) return 'foreign';
  return startTicksOf(identity.pid) === identity.start_ticks ? 'alive' : 'dead';
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

function readNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'unknown';
  }
}
