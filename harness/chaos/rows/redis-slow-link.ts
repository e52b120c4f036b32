// Row 27: a slow, lossy link to Redis. By the kernel (netem on a veth pair into the server's own network namespace) where that may be had,
// else by a proxy; the report says which.
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { redisRow } from '../redis-rig-row.js';
import { vethProblem } from '../redis-rig-veth.js';
import { seededRandom } from '../seeded-random.js';
import { watchFor } from '../until.js';

const DELAY_MS = 200;
const LOSS_PERCENT = 5;
const WHOLE_MS = 30_000;

export const redisSlowLink = (seconds = 20): ChaosRow =>
  redisRow({
    row: 27,
    fault: `slow, lossy link to Redis: ${DELAY_MS} ms each way, ${LOSS_PERCENT} % lost, for ${seconds} s`,
    outcome: 'no false kills; the state is older, that is all',
    recoverLimitMs: 0,
    way: () => (vethProblem() === null ? 'veth' : 'proxy'),
    note: (way) =>
      way === 'veth'
        ? 'by netem on a veth pair into a network namespace'
        : `by a proxy that sends late: no netem here (${vethProblem() ?? 'not asked for'})`,
    async strike({ rig, proxy, veth, whole }, { seed }) {
      const atMs = monotonicMs();
      proxy?.slow({ delayMs: DELAY_MS, lateShare: LOSS_PERCENT / 100, random: seededRandom(seed) });
      veth?.slow(DELAY_MS, LOSS_PERCENT);
      const wholeMs = await whole(WHOLE_MS);
      await watchFor(Math.max(0, atMs + seconds * 1000 - monotonicMs()));
      return {
        atMs,
        problems: [
          ...(wholeMs === null ? [`no look came through in ${WHOLE_MS / 1000} s`] : []),
          ...(rig.eventsSince(atMs, 'worker-suspect').length > 0 ? ['a worker was suspected'] : []),
        ],
      };
    },
  });
