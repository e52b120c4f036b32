// A row about the Redis that a run is mirrored into. Says what holds for all of them: nobody is killed for it and envs step on (I6, I7).
import type { ChaosRow, RowContext } from './chaos-row.js';
import { crewRow } from './crew-row.js';
import type { Fault } from './fault.js';
import { openRedisRig, REDIS_PREFIX, type RedisRig, type RedisWay, redisUrlOf } from './redis-rig.js';
import { redisProblem } from './redis-rig-server.js';
import { watchFor } from './until.js';

export interface RedisRow extends Omit<ChaosRow, 'run' | 'needs'> {
  readonly way?: () => RedisWay;
  readonly note?: (way: RedisWay) => string;
  /** Breaks it, and returns when all is over: its times are then known. */
  readonly strike: (redis: RedisRig, context: RowContext) => Promise<Omit<Fault, 'touched'>>;
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
          const fault = await strike(redis, context);
          const after = rig.sampler.look().seq;
          const stuck = before.findIndex((seq, env) => (after[env] as number) <= seq);
          return {
            ...fault,
            touched: [],
            async undo() {
              const problems = [...((await fault.undo?.()) ?? [])];
              if (stuck !== -1) problems.push(`env ${stuck} made no frame meanwhile`);
              await redis?.close();
              return problems;
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
