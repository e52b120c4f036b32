// Two of the rows about Redis every day, with a short outage; the others, and long ones, are `npm run chaos -- --only 23,24,25,26,27,28,29`.
import { describe, it } from 'node:test';
import { redisWiped } from '../../harness/chaos/rows/redis-contents.js';
import { redisGone } from '../../harness/chaos/rows/redis-outages.js';
import { runRow } from '../../harness/chaos/run-matrix.js';
import { NO_REDIS } from '../fixtures/redis-server.js';
import { assertHeld, EVERYDAY } from './everyday.js';

describe('rows about Redis, a few of them every day', { timeout: 240_000, concurrency: 1, skip: NO_REDIS }, () => {
  it('row 23 passes: Redis is killed and comes back empty', async () => {
    // Goal: no worker pays for it, it is said once, and the whole state is there again.
    assertHeld(await runRow(redisGone(3), EVERYDAY));
  });

  it('row 29 passes: Redis is wiped', async () => {
    // Goal: every key is written again, and nobody calls it a loss.
    assertHeld(await runRow(redisWiped, EVERYDAY));
  });
});
