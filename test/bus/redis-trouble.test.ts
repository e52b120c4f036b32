// Goal: whatever happens to Redis, the run is not held up, nothing grows, it is said once, and the state is right again when Redis is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { openRedisStateStore } from '../../harness/bus/state/redis-state-store.js';
import { createStateMirror, type StateMirror } from '../../harness/bus/state/state-mirror.js';
import type { StateStore } from '../../harness/bus/state/state-store.js';
import { watchScores } from '../../harness/bus/state/watch-scores.js';
import { freePort, NO_REDIS, type RedisServer, startRedis } from '../fixtures/redis-server.js';
import { startProxy } from '../fixtures/tcp-proxy.js';
import { lookAt, until } from './state-fixture.js';

/** FAULTS: how long the state may take to be right again. */
const RECOVERY_MS = 10_000;
/** Commands of the writes that can be unanswered at once: those within the socket's time-out, and the one under way. */
const MOST_PENDING = 60;

interface Rig {
  readonly server: RedisServer;
  readonly mirror: StateMirror;
  readonly store: StateStore;
  readonly events: { readonly type: string; readonly message: string }[];
  /** Reads with a client of its own. */
  mark(): Promise<number | undefined>;
  /** The number of the newest look. */
  offered(): number;
  version(to: number): void;
}

async function withRig(
  options: { server?: RedisServer; url?: string; everyMs?: number },
  work: (rig: Rig) => Promise<void>,
): Promise<void> {
  const server = options.server ?? (await startRedis());
  const store = openRedisStateStore({ url: options.url ?? server.url, prefix: 't', runId: 'r1' });
  const events: { type: string; message: string }[] = [];
  const mirror = createStateMirror({ store, onEvent: (event) => events.push(event), fullEveryMs: 1_000 });
  let looks = 0;
  let version = 1;
  const timer = setInterval(() => mirror.offer(lookAt(++looks, 20, version)), options.everyMs ?? 50);
  try {
    await work({
      server,
      mirror,
      store,
      events,
      async mark() {
        const client = server.admin();
        try {
          const text = await client.get('t:r1:info');
          return text === null ? undefined : (JSON.parse(text).samplingSps as number);
        } finally {
          client.disconnect();
        }
      },
      offered: () => looks,
      version: (to) => {
        version = to;
      },
    });
  } finally {
    clearInterval(timer);
    await mirror.close();
    await server.remove();
  }
}

/** A look that was made after this call is in the store, and so are the parts that are written seldom. */
async function convergence(rig: Rig): Promise<void> {
  const from = rig.offered();
  await until('a new look in the store', async () => ((await rig.mark()) ?? 0) > from, RECOVERY_MS);
  const admin = rig.server.admin();
  await until(
    'every part of it',
    async () => (await admin.exists('t:r1:envs', 't:r1:rewards', 't:r1:scores', 't:r1:workers')) === 4,
    RECOVERY_MS,
  );
  assert.equal(rig.mirror.lost(), null);
}

/** Lost and back take turns: neither is said twice. */
function assertTurns(rig: Rig, first: string): void {
  assert.equal(rig.events[0]?.type, first);
  for (let i = 1; i < rig.events.length; i++) assert.notEqual(rig.events[i]?.type, rig.events[i - 1]?.type, inspect(rig.events));
}

describe('Redis in trouble', { timeout: 120_000, concurrency: 4, skip: NO_REDIS }, () => {
  it('is down at the start and comes later', async () => {
    // Goal: a run may begin before its Redis.
    const server = await startRedis();
    await server.kill();
    await withRig({ server }, async (rig) => {
      await until('the loss to be said', () => rig.events.length > 0);
      assert.match(rig.events[0]?.message ?? '', /state store is lost: Redis at redis:\/\/127\.0\.0\.1:\d+\/0: .*ECONNREFUSED/);
      await server.start();
      await convergence(rig);
      assertTurns(rig, 'state-lost');
      assert.match(rig.events.at(-1)?.message ?? '', /back after \d+\.\d s; \d+ looks were not written/);
    });
  });

  it('is killed and started again, empty', async () => {
    // Goal: FAULTS 23: the state converges within 10 s.
    await withRig({}, async (rig) => {
      await convergence(rig);
      await rig.server.kill();
      await until('the loss to be said', () => rig.mirror.lost() !== null);
      const failed = rig.mirror.counts().failed;
      await until('more failed writes', () => rig.mirror.counts().failed > failed + 10);
      assert.equal(rig.store.pending(), 0);
      await rig.server.start();
      await convergence(rig);
      assertTurns(rig, 'state-lost');
    });
  });

  it('is frozen for ten seconds', async () => {
    // Goal: FAULTS 24: commands fail within about a second, nothing piles up, and it goes on after.
    await withRig({}, async (rig) => {
      await convergence(rig);
      rig.server.freeze();
      let most = 0;
      const watching = setInterval(() => {
        most = Math.max(most, rig.store.pending());
      }, 10);
      watching.unref();
      await until('the loss to be said', () => rig.mirror.lost() !== null);
      // Its own limit, not the connection's, which is longer.
      assert.match(rig.mirror.lost() ?? '', /Command timed out/);
      await pause(10_000);
      clearInterval(watching);
      const { failed, superseded } = rig.mirror.counts();
      assert.ok(failed >= 3, `writes must fail and not hang: ${failed} failed`);
      assert.ok(superseded > 0, 'looks without room give way');
      assert.ok(most <= MOST_PENDING, `${most} commands pending`);
      rig.server.thaw();
      await convergence(rig);
      assertTurns(rig, 'state-lost');
    });
  });

  it('refuses writes for want of memory', async () => {
    // Goal: FAULTS 25: refused writes are dropped and counted, with Redis's own reason.
    await withRig({}, async (rig) => {
      await convergence(rig);
      const admin = rig.server.admin();
      await admin.call('CONFIG', 'SET', 'maxmemory', '1');
      await until('refusals', () => rig.mirror.counts().refused > 5);
      assert.match(rig.mirror.lost() ?? '', /^OOM/);
      await admin.call('CONFIG', 'SET', 'maxmemory', '0');
      await convergence(rig);
      assertTurns(rig, 'state-lost');
    });
  });

  it('became a read-only replica', async () => {
    // Goal: a demoted server refuses; the state is back when it is the primary again.
    await withRig({}, async (rig) => {
      await convergence(rig);
      const admin = rig.server.admin();
      await admin.call('REPLICAOF', '127.0.0.1', String(await freePort()));
      await until('refusals', () => rig.mirror.counts().refused > 5);
      assert.match(rig.mirror.lost() ?? '', /^READONLY/);
      await admin.call('REPLICAOF', 'NO', 'ONE');
      await convergence(rig);
      assertTurns(rig, 'state-lost');
    });
  });

  it('is wiped', async () => {
    // Goal: FAULTS 29: everything is there again, without anybody having noticed a loss.
    await withRig({}, async (rig) => {
      await convergence(rig);
      const admin = rig.server.admin();
      await admin.flushall();
      await convergence(rig);
      assert.equal((await admin.hgetallBuffer('t:r1:envs'))['0']?.length, 20 * 13);
      assert.ok((await admin.ttl('t:r1:scores')) > 0);
    });
  });

  it('delivers a command again whose reader never settled it', async () => {
    // Goal: an answer of Redis that got lost on its way to the supervisor does not lose the command in it.
    await withRig({}, async (rig) => {
      await convergence(rig);
      await rig.store.takeCommands(1);
      await rig.store.sendCommand('first');
      await rig.store.sendCommand('second');
      assert.equal((await rig.store.takeCommands(5)).commands.length, 2);
      const next = openRedisStateStore({ url: rig.server.url, prefix: 't', runId: 'r1' });
      try {
        await until('a connection', () =>
          next.scoresVersion().then(
            () => true,
            () => false,
          ),
        );
        const texts = (await next.takeCommands(5)).commands.map(({ text }) => text);
        assert.deepEqual(texts, ['first', 'second']);
      } finally {
        next.close();
      }
    });
  });

  it('gives every key a life time', async () => {
    // Goal: a dead run leaves nothing in a Redis that others share.
    await withRig({}, async (rig) => {
      await convergence(rig);
      await rig.store.takeCommands(1);
      await rig.store.sendCommand('x');
      await rig.store.settleCommand((await rig.store.takeCommands(1)).commands[0]?.entry ?? '', 'y');
      await rig.store.writeBeat(0, 1);
      const admin = rig.server.admin();
      const names = await admin.keys('*');
      assert.equal(names.length, 9);
      for (const name of names) assert.ok((await admin.ttl(name)) > 0, name);
    });
  });

  it('throws subscribers out: scores converge by polling, and hints come back', async () => {
    // Goal: FAULTS 28.
    await withRig({}, async (rig) => {
      await convergence(rig);
      const reader = openRedisStateStore({ url: rig.server.url, prefix: 't', runId: 'r1', role: 'tool' });
      let seen = 0;
      const end = watchScores(reader, ({ version }) => (seen = version), 300);
      try {
        const admin = rig.server.admin();
        await until('the first scores', () => seen === 1);
        await until('a subscriber', async () => (await admin.pubsub('NUMSUB', 't:r1:scores-hint'))[1] === 1);
        await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        rig.version(2);
        await until('the second scores', () => seen === 2);
        await until('a subscriber again', async () => (await admin.pubsub('NUMSUB', 't:r1:scores-hint'))[1] === 1);
      } finally {
        end();
        reader.close();
      }
    });
  });

  it('is behind a connection that is half open', async () => {
    // Goal: FAULTS 26: a connection on which nothing comes back is given up and made anew.
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    try {
      await withRig({ server, url: `redis://127.0.0.1:${proxy.port}` }, async (rig) => {
        await convergence(rig);
        proxy.swallowOld();
        await until('the loss to be said', () => rig.mirror.lost() !== null);
        await convergence(rig);
        proxy.swallowAll();
        await until('the loss to be said again', () => rig.mirror.lost() !== null);
        await pause(4_000);
        assert.ok(rig.store.pending() <= MOST_PENDING);
        proxy.pass();
        await convergence(rig);
        assertTurns(rig, 'state-lost');
      });
    } finally {
      await proxy.close();
    }
  });

  it('has a silent subscriber connection', async () => {
    // Goal: a connection that only listens is asked whether it is there, else a half-open one would stay for ever.
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    const store = openRedisStateStore({ url: `redis://127.0.0.1:${proxy.port}`, prefix: 't', runId: 'r1' });
    const end = store.onScoresHint(() => undefined);
    try {
      const admin = server.admin();
      const subscribers = async (): Promise<number> => Number((await admin.pubsub('NUMSUB', 't:r1:scores-hint'))[1]);
      await until('a subscriber', async () => (await subscribers()) === 1);
      proxy.swallowOld();
      // The server does not learn that the old one is gone: two of them means that a new one was made.
      await until('a new subscriber', async () => (await subscribers()) === 2, 20_000);
    } finally {
      end();
      store.close();
      await proxy.close();
      await server.remove();
    }
  });

  it('is far away', async () => {
    // Goal: FAULTS 27: 200 ms of delay each way cost nothing but freshness.
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    proxy.delay(200);
    try {
      await withRig({ server, url: `redis://127.0.0.1:${proxy.port}` }, async (rig) => {
        await until('ten writes', () => rig.mirror.counts().written >= 10);
        await convergence(rig);
        assert.ok(rig.mirror.counts().superseded > 0);
      });
    } finally {
      await proxy.close();
    }
  });

  it('asks for another password, and no password is ever shown', async () => {
    // Goal: a clear error, and secrets stay out of messages, events and inspected objects.
    const secret = 'hunter2-geheim';
    const server = await startRedis([], 'the-right-one');
    await withRig({ server, url: `redis://:${secret}@127.0.0.1:${server.port}` }, async (rig) => {
      await until('the loss to be said with its reason', () => rig.events.length > 0);
      await until('the reason', async () => {
        const error: unknown = await rig.store.readInfo().catch((each: unknown) => each);
        assert.ok(error instanceof Error);
        assert.ok(!inspect(error, { depth: 10 }).includes(secret));
        return /the password is missing or wrong/.test(error.message);
      });
      assert.ok(!inspect(rig.events).includes(secret));
      assert.ok(!inspect(rig.mirror.counts()).includes(secret));
    });
  });

  it('is found with the right password', async () => {
    // Goal: the password of the URL is used.
    const server = await startRedis([], 'p@ss/word');
    await withRig({ server, url: `redis://:${encodeURIComponent('p@ss/word')}@127.0.0.1:${server.port}` }, convergence);
  });
});
