// I8: nothing was started again more often than its budget allows, counted from the events in every window of the budget's length.
import type { Finding } from '../chaos-row.js';
import type { Rig } from '../rig.js';

/** Most times that fall into one window of `seconds`. */
export function mostWithin(timesMs: readonly number[], seconds: number): number {
  let most = 0;
  let from = 0;
  timesMs.forEach((ms, i) => {
    while (ms - (timesMs[from] as number) > seconds * 1000) from++;
    most = Math.max(most, i - from + 1);
  });
  return most;
}

export function judgeBudgets(rig: Rig): Finding {
  const { workerBudget, runBudget, learnerBudget } = rig.plan.health;
  const restarts = rig.events.filter(({ type }) => type === 'worker-restarted');
  const problems: string[] = [];
  const check = (who: string, times: readonly number[], budget: { restarts: number; perSeconds: number }): number => {
    const most = mostWithin(times, budget.perSeconds);
    if (most > budget.restarts) problems.push(`${who}: ${most} restarts within ${budget.perSeconds} s, the budget is ${budget.restarts}`);
    return most;
  };
  for (const worker of rig.segments.keys()) {
    check(
      `worker ${worker}`,
      restarts.filter((event) => event.worker === worker).map(({ ms }) => ms),
      workerBudget,
    );
  }
  const run = check(
    'the run',
    restarts.map(({ ms }) => ms),
    runBudget,
  );
  const learner = check(
    'the learner',
    rig.events.filter(({ type }) => type === 'learner-restarted').map(({ ms }) => ms),
    learnerBudget,
  );
  return {
    ok: problems.length === 0,
    evidence:
      problems.length === 0
        ? `${run} worker restarts of ${runBudget.restarts}, ${learner} learner restarts of ${learnerBudget.restarts} allowed`
        : problems.join('; '),
  };
}
