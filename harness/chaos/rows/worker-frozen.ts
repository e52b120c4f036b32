// Rows 3 and 4: a worker that is stopped, for longer than its deadline and for less.
import { monotonicMs } from '../../supervisor/clock.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { isRunning } from '../leftovers.js';
import { watchFor } from '../until.js';
import { pickWorkers, workerDeath } from '../worker-death.js';

/** `frozenSeconds` of a rig; the pauses of the fault matrix (60 s and 5 s) are scaled to it. */
const FROZEN_SECONDS = 2;
const JUST_UNDER_SECONDS = 1.6;

export const workerFrozen: CrewChaosRow = crewRow({
  row: 3,
  fault: 'worker frozen (SIGSTOP) past its deadline',
  outcome: 'killed at the deadline, death confirmed, replaced; a late SIGCONT changes nothing',
  recoverLimitMs: 15_000,
  pairable: true,
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const pid = rig.pid(`worker ${workers[0]}`);
    const fault = workerDeath(rig, workers, () => process.kill(pid, 'SIGSTOP'), /deadline|frozen/);
    return {
      ...fault,
      undo: async () => {
        const problems: string[] = [];
        if (isRunning(pid)) problems.push(`process ${pid} is still there`);
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          // Gone, as it should be.
        }
        const deaths = rig.events.filter(({ type }) => type === 'worker-died').length;
        await watchFor(500);
        if (rig.events.filter(({ type }) => type === 'worker-died').length !== deaths) problems.push('SIGCONT brought another death');
        return problems;
      },
    };
  },
  verify: (_, fault) => {
    const afterMs = (fault.detected?.() ?? Number.POSITIVE_INFINITY) - fault.atMs;
    return afterMs < FROZEN_SECONDS * 1000 * 0.9
      ? [`killed ${Math.round(afterMs)} ms after it was stopped, before the deadline of ${FROZEN_SECONDS} s`]
      : [];
  },
});

export const frozenJustUnder: CrewChaosRow = crewRow({
  row: 4,
  fault: 'worker frozen (SIGSTOP) for less than its deadline',
  outcome: 'suspect, then cleared; no restart',
  recoverLimitMs: 0,
  async inject(rig) {
    const [worker = 0] = pickWorkers(rig, 1);
    const pid = rig.pid(`worker ${worker}`);
    const atMs = monotonicMs();
    process.kill(pid, 'SIGSTOP');
    const timer = setTimeout(() => process.kill(pid, 'SIGCONT'), JUST_UNDER_SECONDS * 1000);
    const first = (type: 'worker-suspect' | 'worker-cleared') =>
      rig.eventsSince(atMs, type).find((event) => event.worker === worker)?.ms ?? null;
    return {
      atMs,
      touched: rig.envsOf(worker),
      detected: () => first('worker-suspect'),
      recovered: () => first('worker-cleared'),
      expect: [
        { type: 'worker-suspect', worker },
        { type: 'worker-cleared', worker },
      ],
      undo: () => {
        clearTimeout(timer);
        return rig.pid(`worker ${worker}`) === pid && isRunning(pid) ? [] : ['it was replaced'];
      },
    };
  },
});
