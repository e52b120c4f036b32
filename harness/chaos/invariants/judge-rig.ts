// All invariants of a stopped rig, each with its evidence. Closes the rig's event writer, since what is on the disk is part of it.
import { monotonicMs } from '../../supervisor/clock.js';
import type { CrewEnd } from '../../supervisor/crew.js';
import type { Findings } from '../chaos-row.js';
import type { ExpectedEvent } from '../fault.js';
import { cgroupsOf, leftSince } from '../leftovers.js';
import type { Rig } from '../rig.js';
import { until } from '../until.js';
import { judgeBudgets } from './budgets.js';
import { judgeCheckpoint } from './checkpoint.js';
import { judgeEvents } from './events.js';
import { judgeFrames } from './frames.js';
import { judgeKept } from './kept-events.js';
import { judgeRates, type RateWindows } from './rates.js';
import { judgeWriters } from './writers.js';

export interface RigFacts {
  readonly expect: readonly ExpectedEvent[];
  readonly touched: readonly number[];
  readonly noRates: string | null;
  readonly windows: RateWindows;
}

/** Sockets and threads need a moment to go after the last process did. */
const SETTLE_MS = 3000;

export async function judgeRig(rig: Rig, end: CrewEnd, { expect, touched, noRates, windows }: RigFacts): Promise<Findings> {
  const stoppedMs = monotonicMs();
  await rig.writer.close();
  let left: string[] = [];
  await until(() => {
    left = leftSince(rig.before, rig.runId);
    return left.length === 0;
  }, SETTLE_MS * rig.context.patience);
  left.push(...cgroupsOf(rig.runId).map((path) => `cgroup ${path}`));
  return {
    I1: judgeFrames(rig, end),
    I2: judgeWriters(rig),
    I3: judgeKept(rig),
    I4: judgeCheckpoint(rig.plan.learner === 'ppo' ? `${rig.dir}/checkpoints` : null),
    I5: {
      ok: left.length === 0,
      evidence:
        left.length === 0
          ? `nothing is left ${Math.round(monotonicMs() - stoppedMs)} ms after the stop: no child, zombie, memory object, socket, cgroup`
          : left.join('; '),
    },
    I6: noRates === null ? judgeRates(rig, touched, windows) : { ok: null, evidence: noRates },
    I7: judgeEvents(rig, end, expect, windows.faultMs),
    I8: judgeBudgets(rig),
  };
}
