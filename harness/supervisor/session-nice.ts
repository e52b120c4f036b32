// Nice values of a process whose session the kernel schedules as one (autogroups, kernel.sched_autogroup_enabled): there a nice value only says
// how a session shares its part, and every child of ours leads a session of its own. So the session is given the same value as its process.
import { existsSync, writeFileSync } from 'node:fs';

/** `pid` leads a session. Does nothing where the kernel knows no autogroups; a refusal leaves the process's own nice value as it is. */
export function setSessionNice(pid: number, nice: number): void {
  const file = `/proc/${pid}/autogroup`;
  try {
    if (existsSync(file)) writeFileSync(file, String(nice));
  } catch {
    // It ended meanwhile, or the kernel lets nobody without CAP_SYS_ADMIN do this twice within a moment.
  }
}
