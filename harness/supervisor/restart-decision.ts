// Whether a worker that died is started again: not when its first life shows what the user has to repair, else as long as its own budget
// and the run's allow. Takes from both what it grants.
import { isIncurable } from './child-error.js';
import type { RestartBudget } from './restart-budget.js';
import { fellForAnother, fellWithHost, type RunBudget } from './run-budget.js';
import type { ExitStatus } from './spawn.js';
import type { WorkerLife } from './worker-life.js';

export interface RestartDecision {
  /** A first life that never got ready, or died of what no restart cures. Later lives have worked before: a module that is being edited, say. */
  readonly hopeless: boolean;
  /** The worker's own budget allows it. */
  readonly mayTry: boolean;
  readonly restarted: boolean;
}

type Life = Pick<WorkerLife, 'epoch' | 'fatal' | 'isReady' | 'killed'> & { readonly child: { readonly pid: number | null } };

export function decideRestart(
  life: Life,
  { cause }: Pick<ExitStatus, 'cause'>,
  budgets: { readonly own: RestartBudget; readonly run: RunBudget },
  nowMs: number,
): RestartDecision {
  const hopeless = life.epoch === 0 && ((life.fatal !== null && isIncurable(life.fatal.code)) || !life.isReady);
  const innocent = life.killed === null && fellForAnother(cause);
  const mayTry = !hopeless && (innocent || budgets.own.take(nowMs));
  return { hopeless, mayTry, restarted: mayTry && budgets.run.take(nowMs, fellWithHost(cause) ? life.child.pid : null) };
}
