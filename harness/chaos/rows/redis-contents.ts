// Rows 28 and 29: a hint that no subscriber got, and a Redis that was wiped. Neither is a loss of the store: no event, only the truth again.

import { openRedisStateStore } from '../../bus/state/redis-state-store.js';
import { watchScores } from '../../bus/state/watch-scores.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import type { ExpectedEvent } from '../fault.js';
import { REDIS_PREFIX, type RedisRig } from '../redis-rig.js';
import { redisRow } from '../redis-rig-row.js';
import { watchFor } from '../until.js';

const NO_LOSS: readonly ExpectedEvent[] = [
  { type: 'state-lost', count: 0 },
  { type: 'state-back', count: 0 },
];

/** Scores are written every ten seconds, and a reader polls every five. */
const NEXT_SCORES_MS = 25_000;
const SEEN_MS = 20_000;
/** Between two kills: shorter than the wait of a client before it comes again. */
const KILL_EVERY_MS = 10;

/** A hint can slip through between two kills: then the next version is tried. */
const MOST_TRIES = 3;

/** Throws every subscriber out, again and again, until the store holds another version than `seen`; returns it. */
async function keepOut({ rig, server, reader }: RedisRig, seen: number): Promise<number> {
  let version = seen;
  const changed = await rig.wait(NEXT_SCORES_MS, async () => {
    await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await watchFor(KILL_EVERY_MS);
    version = await reader.scoresVersion();
    return version !== seen;
  });
  if (!changed) throw new Error(`no new scores within ${NEXT_SCORES_MS / 1000} s`);
  return version;
}

export const redisHintLost: ChaosRow = redisRow({
  row: 28,
  fault: 'subscribers thrown out (CLIENT KILL TYPE pubsub) while new scores are announced',
  outcome: 'a reader has them by polling; its hints come back',
  recoverLimitMs: 10_000,
  async strike(redis) {
    const { rig, server } = redis;
    const tool = openRedisStateStore({ url: server.url, prefix: REDIS_PREFIX, runId: rig.runId, role: 'tool' });
    let seen = 0;
    const hinted = new Set<number>();
    const ends = [tool.close, watchScores(tool, ({ version }) => (seen = version)), tool.onScoresHint((version) => hinted.add(version))];
    const subscribers = async (): Promise<number> =>
      Number(((await server.command('PUBSUB', 'NUMSUB', `${REDIS_PREFIX}:${rig.runId}:scores-hint`)) as unknown[])[1]);
    try {
      if (!(await rig.wait(SEEN_MS, async () => seen > 0 && (await subscribers()) === 1))) throw new Error('a reader cannot subscribe');
      const beganMs = monotonicMs();
      let atMs = beganMs;
      let seenMs: number | null = null;
      let slipped = true;
      for (let tries = 0; slipped && tries < MOST_TRIES; tries++) {
        const before = seen;
        hinted.clear();
        const version = await keepOut(redis, before);
        atMs = monotonicMs();
        seenMs = (await rig.wait(SEEN_MS, () => seen !== before)) ? monotonicMs() : null;
        slipped = hinted.has(version);
      }
      const polled = hinted.size === 0;
      const again = await rig.wait(SEEN_MS, async () => (await subscribers()) === 1);
      return {
        atMs,
        recoverMs: seenMs === null ? null : seenMs - atMs,
        expect: NO_LOSS,
        problems: [
          ...(slipped ? [`a hint came through ${MOST_TRIES} times: nothing was shown`] : []),
          ...(slipped || polled ? [] : ['the reader had new scores only by the next hint']),
          ...(again ? [] : ['the reader did not subscribe again']),
          ...rig.eventsSince(beganMs, 'state-lost').map(({ message }) => message),
        ],
      };
    } finally {
      for (const end of ends.reverse()) end();
    }
  },
});

const REBUILT_MS = 40_000;

export const redisWiped: ChaosRow = redisRow({
  row: 29,
  fault: 'Redis wiped (FLUSHALL)',
  outcome: 'every key is written again',
  recoverLimitMs: 15_000,
  async strike({ rig, server, whole }) {
    const keys = async (): Promise<string> => ((await server.command('KEYS', '*')) as string[]).sort().join(' ');
    const had = await keys();
    const atMs = monotonicMs();
    await server.command('FLUSHALL');
    const wholeMs = await whole(REBUILT_MS);
    const complete = await rig.wait(REBUILT_MS, async () => (await keys()) === had);
    const rebuiltMs = monotonicMs();
    const left = await keys();
    return {
      atMs,
      recoverMs: wholeMs === null || !complete ? null : rebuiltMs - atMs,
      expect: NO_LOSS,
      problems: complete ? [] : [`keys before: ${had}; after: ${left}`],
    };
  },
});
