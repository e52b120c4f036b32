// One look at everything alive, made when asked: what the kernel and the progress lines say, beside what the processes said of themselves.
import type { ChildReport, EnvStats } from '../contract/messages.js';
import type { Control } from '../memory/control.js';
import { monotonicMs } from './clock.js';
import type { CrewHealth, WorkerHealth, WorkerVerdict } from './crew.js';
import type { HealthCounts } from './health-counts.js';

export interface HealthSources {
  readonly posts: readonly {
    readonly worker: number;
    readonly pid: number | null;
    readonly epoch: number;
    readonly restarts: number;
    readonly report: ChildReport | null;
    budgetLeft(nowMs: number): number;
  }[];
  readonly learner: {
    readonly pid: number | null;
    readonly restarts: number;
    readonly report: ChildReport | null;
    readonly envStats: EnvStats | null;
  };
  readonly control: Control;
  readonly verdictOf: (worker: number) => WorkerVerdict;
  readonly suspended: () => string | null;
  readonly counts: HealthCounts;
}

/** Age of a stamp; 0 for one that was never made. */
const age = (nowMs: number, stampMs: number): number => (stampMs === 0 ? 0 : Math.max(0, nowMs - stampMs));

export function lookAtHealth({ posts, learner, control, verdictOf, suspended, counts }: HealthSources): CrewHealth {
  const nowMs = monotonicMs();
  const workers = posts.map((post): WorkerHealth => {
    const { envId, op, nativeMs, loopMs, opMs } = control.progress(post.worker);
    return {
      worker: post.worker,
      pid: post.pid,
      epoch: post.epoch,
      verdict: verdictOf(post.worker),
      envId,
      op,
      nativeAgeMs: age(nowMs, nativeMs),
      loopAgeMs: age(nowMs, loopMs),
      opAgeMs: op === 'idle' ? 0 : age(nowMs, opMs),
      restarts: post.restarts,
      budgetLeft: post.budgetLeft(nowMs),
      report: post.report,
    };
  });
  return {
    workers,
    learner: { pid: learner.pid, restarts: learner.restarts, report: learner.report },
    suspended: suspended(),
    rebuilds: counts.rebuilds,
    failures: counts.failures,
    deadlinesMissed: counts.deadlinesMissed,
    envStats: learner.envStats,
  };
}
