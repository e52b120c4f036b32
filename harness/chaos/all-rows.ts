// The table of contents of the fault matrix: every row there is, in the order of its number.
import type { ChaosRow } from './chaos-row.js';
import { everythingKilled, secondSupervisor, supervisorKilled } from './rows/supervisor-killed.js';
import { frozenJustUnder, workerFrozen } from './rows/worker-frozen.js';
import { massDeath, nativeCrash, workerKilled } from './rows/worker-killed.js';

const ROWS: readonly ChaosRow[] = [
  workerKilled,
  workerFrozen,
  frozenJustUnder,
  nativeCrash,
  massDeath,
  supervisorKilled,
  everythingKilled,
  secondSupervisor,
];

export const ALL_ROWS: readonly ChaosRow[] = [...ROWS].sort((a, b) => a.row - b.row);
