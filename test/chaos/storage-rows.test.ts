import { describe, it } from 'node:test';
import type { ChaosRow } from '../../harness/chaos/chaos-row.js';
import { failingDisk, killedWriting } from '../../harness/chaos/rows/checkpoints.js';
import { diskFullFor } from '../../harness/chaos/rows/disk.js';
import { databaseDamaged, lockedFor } from '../../harness/chaos/rows/sqlite.js';
import { runRow } from '../../harness/chaos/run-matrix.js';
import { assertHeld, EVERYDAY } from './everyday.js';

/** Every so many file calls of a checkpoint: `npm run chaos` strikes them all, the learner's own tests too. */
const STRIDE = 11;

describe('rows about the disk, shortened', { timeout: 300_000, concurrency: 1 }, () => {
  for (const [goal, row] of [
    ['FAULTS 36: a full disk costs no training and no checkpoint, and is an alarm that ends', diskFullFor(3000)],
    ['FAULTS 38: no bad checkpoint is accepted, wherever the disk fails', failingDisk(STRIDE)],
    ['FAULTS 39: the newest visible checkpoint loads, wherever its writer was killed', killedWriting(STRIDE)],
    ['FAULTS 42: a locked database holds nothing up and loses nothing', lockedFor(2500)],
    ['FAULTS 44: a damaged database is moved aside and told', databaseDamaged],
  ] as const satisfies readonly (readonly [string, ChaosRow])[]) {
    it(goal, async (t) => {
      // Goal: see the list above.
      const missing = row.needs?.() ?? null;
      if (missing !== null) return t.skip(`SKIPPED(${missing})`);
      assertHeld(await runRow(row, EVERYDAY));
    });
  }
});
