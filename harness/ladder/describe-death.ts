// A death as one sentence, and what to do about it: for validity reasons. Pure.
import type { Death } from '../contract/run-record.js';

/** "worker 0 (pid 71) died of SIGKILL while env 12 was in step, and was restarted" */
export function describeDeath(death: Death): string {
  const who = death.worker === null ? death.role : `${death.role} ${death.worker}`;
  const pid = death.pid === null ? '' : ` (pid ${death.pid})`;
  const where =
    death.last_env_id === null || death.last_operation === null ? '' : ` while env ${death.last_env_id} was in ${death.last_operation}`;
  return `${who}${pid} died: ${death.cause}${where}${death.restarted ? ', and was restarted' : ''}`;
}

/** One line. */
export function adviceForDeath(death: Death): string {
  if (death.cause.includes('deadline'))
    return 'an env hung: check its kind with envladder env check KIND, or raise stepDeadlineSeconds in the plan';
  if (death.cause.includes('SIGKILL')) return 'look for the out-of-memory killer in dmesg, or for someone who killed it';
  if (/SIGSEGV|SIGBUS|SIGABRT|SIGILL/.test(death.cause))
    return 'native code crashed: its last env and operation are in the record; check that kind with envladder env check KIND';
  return 'its last lines of stderr are in the record';
}
