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

/** What an env can do to its worker, and what the kernel or the supervisor did with its name on it. */
const KNOWN_CAUSE =
  /^(deadline|frozen|blocked|oom|heartbeat|its memory is damaged|(thread host: )?(SIGSEGV|SIGBUS|SIGABRT|SIGILL|SIGFPE|SIGTRAP|exit code \d+))$/;

/**
 * Whether we know why, and the range came back: then the figures stand, and how often it may happen is a matter of objectives
 * (`restarts.rate_per_1000_env_h`). A kill from outside has no known cause; a learner's death takes training time with it.
 */
export function isExplained(death: Death): boolean {
  return death.role === 'worker' && death.restarted && KNOWN_CAUSE.test(death.cause);
}

/** One line. */
export function adviceForDeath(death: Death): string {
  if (death.cause.includes('deadline'))
    return 'an env hung: check its kind with npm run -s envladder -- env check KIND, or raise stepDeadlineSeconds in the plan';
  if (death.cause.includes('SIGKILL')) return 'look for the out-of-memory killer in dmesg, or for someone who killed it';
  if (/SIGSEGV|SIGBUS|SIGABRT|SIGILL/.test(death.cause))
    return 'native code crashed: its last env and operation are in the record; check that kind with npm run -s envladder -- env check KIND';
  return 'its last lines of stderr are in the record';
}
