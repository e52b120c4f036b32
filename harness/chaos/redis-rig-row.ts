// A row about the Redis that a run is mirrored into. Says what holds for all of them: nobody is killed for it and envs step on (I6, I7).
import type { ChaosRow, RowContext } from './chaos-row.js';
import { crewRow } from './crew-row.js';
import type { ExpectedEvent, Fault } from './fault.js';
import { openRedisRig, REDIS_PREFIX, type RedisRig, type RedisWay, redisUrlOf } from './redis-rig.js';
import { redisProblem } from './redis-rig-server.js';
import { watchFor } from './until.js';

/** What was seen of a fault that is over. Times are CLOCK_MONOTONIC ms. */
export interface Struck {
  readonly atMs: number;
  /** When the run said so; null: it never did. Left out: nothing to notice. */
  readonly lostMs?: number | null;
  /** From the end of the fault until the state was whole again; null: it did not become so. Left out: nothing to mend. */
  readonly recoverMs?: number | null;
  readonly expect?: readonly ExpectedEvent[];
  readonly problems: readonly string[];
}

export interface RedisRow extends Omit<ChaosRow, 'run' | 'needs'> {
  readonly way?: () => RedisWay;
  readonly note?: (way: RedisWay) => string;
  /** Breaks it, and returns when all is over. */
  readonly strike: (redis: RedisRig, context: RowContext) => Promise<Struck>;
}

export function redisRow({ way: wayOf = () => 'direct', note, strike, ...row }: RedisRow): ChaosRow {
  return {
    ...row,
    needs: redisProblem,
    async run(context) {
      const way = wayOf();
      let redis: RedisRig | undefined;
      const inner = crewRow({
        ...row,
        rig: { plan: { redis: { url: redisUrlOf(way, context.dir), prefix: REDIS_PREFIX } } },
        async inject(rig) {
          redis = await openRedisRig(rig, way);
          // The rates before the fault, with the mirror at work.
          await watchFor(context.windowSeconds * 1000);
          const before = rig.sampler.look().seq.slice();
          const struck = await strike(redis, context);
          const after = rig.sampler.look().seq;
          const stuck = before.findIndex((seq, env) => (after[env] as number) <= seq);
          return {
            ...faultOf(struck),
            async undo() {
              await redis?.close();
              return stuck === -1 ? problemsOf(struck) : [...problemsOf(struck), `env ${stuck} made no frame meanwhile`];
            },
          };
        },
      });
      try {
        const outcome = await inner.run(context);
        return note === undefined || 'skipped' in outcome ? outcome : { ...outcome, notes: [...(outcome.notes ?? []), note(way)] };
      } finally {
        await redis?.close();
      }
    },
  };
}

function faultOf({ atMs, lostMs, recoverMs, expect }: Struck): Fault {
  return {
    atMs,
    touched: [],
    ...(typeof lostMs === 'number' ? { detected: () => lostMs } : {}),
    // An outage lasts as long as the row wants it to: what follows it is what the run is judged by.
    ...(typeof recoverMs === 'number' ? { recovered: () => atMs + recoverMs } : {}),
    ...(expect === undefined ? {} : { expect }),
  };
}

function problemsOf({ lostMs, recoverMs, problems }: Struck): string[] {
  return [
    ...(lostMs === null ? ['the run did not say that the state is lost'] : []),
    ...(recoverMs === null ? ['the state did not become whole again'] : []),
    ...problems,
  ];
}
