// Rows 23 to 26: a Redis that is gone, frozen, full or behind a half-open connection. The run must not care: no kill, envs step on, one
// `state-lost` with the reason, one `state-back`, and what was not written is counted.
import { COMMAND_TIMEOUT_MS } from '../../bus/state/redis-client.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { CrewEvent } from '../../supervisor/crew.js';
import type { ChaosRow, RowContext } from '../chaos-row.js';
import type { RedisRig } from '../redis-rig.js';
import { redisRow, type Struck } from '../redis-rig-row.js';
import { watchFor } from '../until.js';

/** What the mirror says with `state-back`. */
interface Missed {
  readonly failed: number;
  readonly refused: number;
  readonly missed: number;
}

interface Outage {
  readonly seconds: number;
  readonly begin: (redis: RedisRig) => unknown;
  /** Left out: nobody mends it, the run finds its way around. */
  readonly end?: (redis: RedisRig) => unknown;
  /** The reason in `state-lost`. */
  readonly cause: RegExp;
  readonly problems?: (missed: Missed, lostMs: number, context: RowContext) => readonly string[];
}

const LOST_MS = 20_000;
const BACK_MS = 40_000;
/** Writes that were sent before their connection was given up, some twenty commands each, and a few polls. */
const MOST_UNANSWERED = 100;

async function strike(redis: RedisRig, context: RowContext, outage: Outage): Promise<Struck> {
  const { rig } = redis;
  const atMs = monotonicMs();
  const heard = (type: CrewEvent['type']) => rig.eventsSince(atMs, type)[0];
  let unanswered = 0;
  const counting = setInterval(() => {
    unanswered = Math.max(unanswered, redis.unanswered());
  }, 10);
  try {
    await outage.begin(redis);
    await rig.wait(LOST_MS, () => heard('state-lost') !== undefined);
    await watchFor(Math.max(0, atMs + outage.seconds * 1000 - monotonicMs()));
    const mendedMs = outage.end === undefined ? atMs : monotonicMs();
    await outage.end?.(redis);
    const wholeMs = await redis.whole(BACK_MS);
    await rig.wait(BACK_MS, () => heard('state-back') !== undefined);
    const lost = heard('state-lost');
    const back = heard('state-back');
    const problems: string[] = [];
    if (unanswered > MOST_UNANSWERED) problems.push(`${unanswered} commands piled up`);
    if (lost !== undefined && back !== undefined) {
      const missed = back.detail as unknown as Missed;
      if (missed.missed < 1) problems.push('no look was counted as not written');
      problems.push(...(outage.problems?.(missed, lost.ms - atMs, context) ?? []));
    }
    return {
      atMs,
      lostMs: lost?.ms ?? null,
      recoverMs: wholeMs === null || back === undefined ? null : Math.max(wholeMs, back.ms) - mendedMs,
      expect: [{ type: 'state-lost', cause: outage.cause }, { type: 'state-back' }],
      problems,
    };
  } finally {
    clearInterval(counting);
  }
}

/** Seconds of an outage. The fault matrix asks for five minutes of 23; a minute shows the same, `--full` takes all of it. */
const MINUTE = 60;
const FULL_SECONDS = 300;

export const redisGone = (seconds = MINUTE): ChaosRow =>
  redisRow({
    row: 23,
    fault: `Redis killed, started again empty ${seconds} s later (with --full: ${FULL_SECONDS} s)`,
    outcome: 'no worker killed, training on, the state is whole again',
    recoverLimitMs: 10_000,
    strike: (redis, context) =>
      strike(redis, context, {
        seconds: context.full === true ? FULL_SECONDS : seconds,
        begin: ({ server }) => server.kill(),
        end: ({ server }) => server.start(),
        cause: /ECONNREFUSED|ECONNRESET|connection|closed/i,
      }),
  });

/** Between two looks of the supervisor. */
const LOOK_EVERY_MS = 1000;
const SLACK_MS = 500;

export const redisFrozen = (seconds = MINUTE): ChaosRow =>
  redisRow({
    row: 24,
    fault: `Redis frozen (SIGSTOP) for ${seconds} s`,
    outcome: 'commands fail within a second, nothing piles up',
    recoverLimitMs: 5000,
    strike: (redis, context) =>
      strike(redis, context, {
        seconds,
        begin: ({ server }) => server.freeze(),
        end: ({ server }) => server.thaw(),
        cause: /timed out|timeout/i,
        problems(missed, lostMs, { patience }) {
          const problems: string[] = [];
          const limitMs = (LOOK_EVERY_MS + COMMAND_TIMEOUT_MS + SLACK_MS) * patience;
          if (lostMs > limitMs) problems.push(`the first command failed after ${Math.round(lostMs)} ms`);
          // One that hangs would be the only one.
          if (missed.failed < seconds / (3 * patience)) problems.push(`only ${missed.failed} writes failed in ${seconds} s`);
          return problems;
        },
      }),
  });

export const redisFull = (seconds = 10): ChaosRow =>
  redisRow({
    row: 25,
    fault: `Redis refuses writes (maxmemory of one byte) for ${seconds} s`,
    outcome: 'what it refuses is dropped and counted',
    recoverLimitMs: 10_000,
    strike: (redis, context) =>
      strike(redis, context, {
        seconds,
        begin: ({ server }) => server.command('CONFIG', 'SET', 'maxmemory', '1'),
        end: ({ server }) => server.command('CONFIG', 'SET', 'maxmemory', '0'),
        cause: /OOM/,
        problems: ({ refused }) => (refused > 0 ? [] : ['no refusal was counted']),
      }),
  });

export const redisHalfOpen: ChaosRow = redisRow({
  row: 26,
  fault: 'the connection to Redis is half open: nothing comes back on it (a proxy that swallows)',
  outcome: 'it is given up, and a new one made',
  recoverLimitMs: 10_000,
  way: () => 'proxy',
  strike: (redis, context) =>
    strike(redis, context, { seconds: 0, begin: ({ proxy }) => proxy?.swallowOld(), cause: /timed out|timeout/i }),
});
