// A rig whose run is mirrored into a Redis of its own, by what stands beside every ladder (run-watch.ts): the health keeper, the mirror, the
// reader of commands. Looked at by a client that the run knows nothing of. Ends before the rig does, and leaves nothing.
import { join } from 'node:path';
import { openRedisStateStore } from '../bus/state/redis-state-store.js';
import type { StateStore } from '../bus/state/state-store.js';
import { createRegistry, type ResolvedKind, resolveKind } from '../envs/registry.js';
import { createStatusBoard } from '../ladder/ladder-status.js';
import { envRanges } from '../ladder/live-source.js';
import { openRunWatch, type RunWatch } from '../ladder/run-watch.js';
import { monotonicMs } from '../supervisor/clock.js';
import { entryMessage } from '../supervisor/entry-message.js';
import { type RigProxy, startRigProxy } from './redis-rig-proxy.js';
import { type RigServer, rigServer } from './redis-rig-server.js';
import { layVeth, VETH_SERVER, VETH_URL, type Veth } from './redis-rig-veth.js';
import type { Rig } from './rig.js';
import { until, watchFor } from './until.js';

/** `direct`: the server's own socket. `proxy`: one that can misbehave lies between. `veth`: a network that the kernel makes slow. */
export type RedisWay = 'direct' | 'proxy' | 'veth';

/** What the run's plan says, before there is anything at that address. */
export function redisUrlOf(way: RedisWay, dir: string): string {
  if (way === 'veth') return VETH_URL;
  return `unix://${join(dir, way === 'proxy' ? 'proxy.sock' : 'redis.sock')}`;
}

export interface RedisRig {
  readonly rig: Rig;
  readonly server: RigServer;
  /** As `way` says. */
  readonly proxy: RigProxy | null;
  readonly veth: Veth | null;
  readonly reader: StateStore;
  /** Commands sent by the run and not answered. */
  unanswered(): number;
  /** CLOCK_MONOTONIC ms at which all that is mirrored lies there, of a look that is newer than this call; null at the watchdog. */
  whole(limitMs: number): Promise<number | null>;
  close(): Promise<void>;
}

/** Between two looks at the whole state. */
const LOOK_MS = 50;
const FIRST_LOOK_MS = 30_000;

/** Rejects when the state of the rig does not come to lie in it; then nothing of it is left. */
export async function openRedisRig(rig: Rig, way: RedisWay): Promise<RedisRig> {
  const { dir } = rig.context;
  const server = rigServer({ dir, ...(way === 'veth' ? VETH_SERVER : {}) });
  const open: (() => void | Promise<void>)[] = [server.remove];
  const close = async (): Promise<void> => {
    for (let end = open.pop(); end !== undefined; end = open.pop()) await end();
  };
  try {
    await server.start();
    const proxy = way === 'proxy' ? await startRigProxy(join(dir, 'proxy.sock'), server.socket) : null;
    if (proxy !== null) open.push(proxy.close);
    const veth = way === 'veth' ? layVeth(server.pid) : null;
    if (veth !== null) open.push(veth.close);
    const reader = openRedisStateStore({ url: server.url, prefix: REDIS_PREFIX, runId: rig.runId, role: 'chaos' });
    open.push(reader.close);
    const watch = await watchRig(rig);
    open.push(async () => {
      watch.beginStop();
      await watch.finish();
      await watch.close();
    });
    const redis: RedisRig = {
      rig,
      server,
      proxy,
      veth,
      reader,
      unanswered: watch.unanswered,
      async whole(limitMs) {
        const sinceMs = Date.now();
        const found = await until(async () => {
          await watchFor(LOOK_MS);
          return isWhole(rig, reader, sinceMs);
        }, limitMs * rig.context.patience);
        return found ? monotonicMs() : null;
      },
      close,
    };
    if ((await redis.whole(FIRST_LOOK_MS)) === null) throw new Error('the state of the rig does not come to Redis');
    return redis;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Of the keys. */
export const REDIS_PREFIX = 'chaos';

/** As a ladder does, but for the climb: this crew stands already. */
async function watchRig(rig: Rig): Promise<RunWatch> {
  const { plan, crew, runId, beganMs } = rig;
  const registry = await createRegistry([]);
  const kinds = plan.mix.map((entry) => resolveKind(registry, entry.kind, entry.config));
  const entries = plan.mix.map((entry, i) => entryMessage(plan, entry, kinds[i] as ResolvedKind));
  const board = createStatusBoard({
    plan,
    runSeconds: () => (monotonicMs() - beganMs) / 1000,
    scan: () => crew.scan(),
    restarts: () => crew.restarts,
    memory: () => ({}),
  });
  // It would win over the plan, and the row would strike a Redis that is somebody's.
  const given = process.env['ENVLADDER_REDIS_URL'];
  delete process.env['ENVLADDER_REDIS_URL'];
  try {
    const watch = await openRunWatch({
      runId,
      plan,
      label: 'chaos',
      dir: rig.dir,
      ranges: envRanges({ runId, read: { plan, kinds, registry, module: null, label: 'chaos' }, entries }),
      startedAt: new Date().toISOString(),
      beganMs,
      nowMs: monotonicMs,
      status: board.read,
      emit: rig.hear,
      onNotice: rig.context.say,
    });
    watch.attend(crew);
    return watch;
  } finally {
    if (given !== undefined) process.env['ENVLADDER_REDIS_URL'] = given;
  }
}

/** Every part is there and right; run and workers are of a look after `sinceMs` (wall clock). */
async function isWhole({ crew, plan }: Rig, reader: StateStore, sinceMs: number): Promise<boolean> {
  try {
    const [info, workers, envs, scores, rewards] = await Promise.all([
      reader.readInfo(),
      reader.readWorkers(),
      reader.readEnvs(),
      reader.readScores(),
      reader.readRewards(),
    ]);
    const health = crew.health();
    return (
      info !== null &&
      Date.parse(info.at) > sinceMs &&
      health.workers.every(({ worker, pid }) => workers.some((beat) => beat.worker === worker && beat.pid === pid)) &&
      envs.frames.length === plan.tiers.at(-1)?.envs &&
      envs.frames.every((frames) => frames > 0) &&
      scores !== null &&
      scores.version > 0 &&
      (health.envStats === null || rewards.envIds.length > 0)
    );
  } catch {
    return false;
  }
}
