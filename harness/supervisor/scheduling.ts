// Asks the kernel for what the plan says about scheduling (cores, nice, SCHED_FIFO) for every process of the run, each new life included,
// and keeps what was granted: for the record, and for one `scheduling` event whenever something new was refused. A refusal ends nothing.
import { getSystemErrorName } from 'node:util';
import { loadNative } from '../../native/index.js';
import type { SchedulingPlan } from '../contract/plan-health.js';
import type { SchedulingGrant } from '../contract/scheduling-grant.js';
import type { CrewEvent } from './crew.js';
import { shareCores } from './scheduling-cores.js';
import { setSessionNice } from './session-nice.js';

/** The calls of native/index.ts this needs: all threads of `pid`, 0 or a negative errno. */
export interface SchedulingCalls {
  setAffinity(pid: number, cpus: readonly number[]): number;
  getAffinity(pid: number): number[] | number;
  setNice(pid: number, nice: number): number;
  setScheduler(pid: number, policy: 'fifo', priority: number): number;
}

/** The addon is loaded only by a plan that asks for something. */
export const KERNEL: SchedulingCalls = {
  setAffinity: (pid, cpus) => loadNative().setAffinity(pid, cpus),
  getAffinity: (pid) => loadNative().getAffinity(pid),
  setNice(pid, nice) {
    const errno = loadNative().setNice(pid, nice);
    if (errno === 0) setSessionNice(pid, nice);
    return errno;
  },
  setScheduler: (pid, policy, priority) => loadNative().setScheduler(pid, policy, priority),
};

export interface SchedulingOptions {
  readonly plan: SchedulingPlan;
  /** Worker processes of the run; seats that are threads share one. */
  readonly processes: number;
  readonly calls: SchedulingCalls;
  readonly emit: (event: CrewEvent) => void;
}

export interface Scheduling {
  /** A process has begun its life: `process` is its number (a seat's `host`), or the learner. */
  apply(process: number | 'learner', pid: number): void;
  /** All processes of the start are there: says once what was asked and granted, when anything was asked. */
  announce(): void;
  /** One row for each role and wish, a second one where lives of a role were treated differently. */
  readonly grants: readonly SchedulingGrant[];
}

/** Why a call failed, in words; the number's name where there are none. */
function refusal(errno: number): string {
  if (errno === -1 || errno === -13) return 'not permitted (needs CAP_SYS_NICE, or a limit raised with ulimit -e / -r)';
  if (errno === -22) return 'refused by the kernel (EINVAL): a core that is not there, or a cgroup without real-time budget';
  return getSystemErrorName(errno);
}

export function createScheduling({ plan, processes, calls, emit }: SchedulingOptions): Scheduling {
  const grants: SchedulingGrant[] = [];
  let announced = false;
  const asked = plan.affinity || plan.fifo !== undefined || plan.nice.learner !== 0 || plan.nice.worker !== 0;
  // Taken before anybody is pinned: children inherit it.
  const free = plan.affinity ? calls.getAffinity(0) : [];
  const cores = typeof free === 'number' ? [] : free;
  const shares = plan.affinity ? shareCores(cores, processes) : null;

  function note(grant: SchedulingGrant): void {
    const known = grants.some(
      (each) => each.role === grant.role && each.asked === grant.asked && each.granted === grant.granted && each.why_not === grant.why_not,
    );
    if (known) return;
    grants.push(grant);
    if (announced && grant.why_not !== null) tell();
  }

  function pin(role: SchedulingGrant['role'], process: number | 'learner', pid: number): void {
    const wish = role === 'learner' ? 'the cores that workers leave' : 'one core a process';
    if (shares === null) {
      const why = `${processes} worker processes and a learner need ${processes + 1} cores of their own, there are ${cores.length}`;
      note({ role, asked: wish, granted: 'any core', why_not: why });
      return;
    }
    const mine = process === 'learner' ? shares.learner : (shares.workers[process] ?? []);
    const errno = calls.setAffinity(pid, mine);
    if (isGone(errno)) return;
    const granted = role === 'learner' ? `${mine.length} core${mine.length === 1 ? '' : 's'}` : 'a core of its own';
    note({ role, asked: wish, granted: errno === 0 ? granted : 'any core', why_not: errno === 0 ? null : refusal(errno) });
  }

  function renice(role: SchedulingGrant['role'], pid: number): void {
    const nice = plan.nice[role];
    if (nice === 0) return;
    const errno = calls.setNice(pid, nice);
    if (isGone(errno)) return;
    note({
      role,
      asked: `nice ${nice}`,
      granted: errno === 0 ? `nice ${nice}` : 'nice as the supervisor has it',
      why_not: errno === 0 ? null : refusal(errno),
    });
  }

  /** True when the kernel took it: then nice values mean nothing to the process. */
  function makeFifo(pid: number): boolean {
    if (plan.fifo === undefined) return false;
    const errno = calls.setScheduler(pid, 'fifo', plan.fifo);
    if (isGone(errno)) return true;
    const asked = `SCHED_FIFO ${plan.fifo}`;
    note({
      role: 'worker',
      asked,
      granted: errno === 0 ? asked : 'SCHED_OTHER with its nice value',
      why_not: errno === 0 ? null : refusal(errno),
    });
    return errno === 0;
  }

  function tell(): void {
    const refused = grants.filter(({ why_not }) => why_not !== null);
    const said = (refused.length > 0 ? refused : grants).map(
      ({ role, asked: wish, granted, why_not }) => `${role}: ${wish}, granted ${granted}${why_not === null ? '' : ` (${why_not})`}`,
    );
    emit({ type: 'scheduling', message: `scheduling: ${said.join('; ')}`, detail: { grants: [...grants] } });
  }

  return {
    apply(process, pid) {
      const role = process === 'learner' ? 'learner' : 'worker';
      if (plan.affinity) pin(role, process, pid);
      if (role === 'learner' || !makeFifo(pid)) renice(role, pid);
    },
    announce() {
      if (announced) return;
      announced = true;
      if (asked && grants.length > 0) tell();
    },
    grants,
  };
}

/** ESRCH: it ended meanwhile, which its post hears from the kernel. */
const isGone = (errno: number): boolean => errno === -3;
