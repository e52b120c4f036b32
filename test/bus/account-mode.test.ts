// Goal: the account's detector is there to be compared with: it finds a stopped worker after its limit, and takes a Redis outage for the
// death of all.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { accountHeartFrom, createAccountHeart } from '../../harness/bus/state/account-heart.js';
import { openRedisStateStore } from '../../harness/bus/state/redis-state-store.js';
import type { StateStore } from '../../harness/bus/state/state-store.js';
import { createTwinStateStore } from '../../harness/bus/state/twin-state-store.js';
import { createAccountDetector, judgeHeartbeats } from '../../harness/supervisor/account-detector.js';
import type { CrewEvent } from '../../harness/supervisor/crew.js';
import { NO_REDIS, type RedisServer, startRedis } from '../fixtures/redis-server.js';
import { raiseTestCrew, stopAllCrews } from '../fixtures/test-crew.js';
import { until } from './state-fixture.js';

const CHILD = fileURLToPath(new URL('../fixtures/heart-child.ts', import.meta.url));
const BEAT_MS = 50;
/** Long against what a loaded machine delays a beat by. */
const LIMIT_MS = 3_000;
const SCAN_MS = 200;

interface Seat {
  readonly worker: number;
  readonly pid: number;
  readonly state: 'up';
  readonly kills: string[];
  kill(cause: string): void;
}

async function withWorkers(
  work: (rig: { server: RedisServer; children: ChildProcess[]; seats: Seat[]; events: CrewEvent[] }) => Promise<void>,
): Promise<void> {
  const server = await startRedis();
  const store = openRedisStateStore({ url: server.url, prefix: 't', runId: 'r1' });
  const children = [0, 1, 2].map((worker) =>
    fork(CHILD, [server.url, 't', 'r1', String(worker), String(BEAT_MS)], { execArgv: ['--import', 'tsx'] }),
  );
  const events: CrewEvent[] = [];
  const seats = children.map((child, worker): Seat => {
    const kills: string[] = [];
    return { worker, pid: child.pid ?? 0, state: 'up', kills, kill: (cause) => void kills.push(cause) };
  });
  const detector = createAccountDetector({ store, emit: (event) => events.push(event), scanEveryMs: SCAN_MS, limitMs: LIMIT_MS });
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    await until('a beat of each', async () => (await store.readBeats()).size === 3);
    detector.start(seats);
    await work({ server, children, seats, events });
  } finally {
    detector.stop();
    for (const child of children) child.kill('SIGKILL');
    store.close();
    await server.remove();
  }
}

describe('mode account', { timeout: 60_000, skip: NO_REDIS }, () => {
  it('finds a stopped worker once its limit is over, and only that one', async () => {
    // Goal: SIGSTOP stops the heart; its neighbours beat on.
    await withWorkers(async ({ children, seats, events }) => {
      children[1]?.kill('SIGSTOP');
      await until('the verdict', () => (seats[1]?.kills.length ?? 0) > 0);
      assert.equal(seats[1]?.kills[0], 'heartbeat');
      assert.deepEqual([seats[0]?.kills, seats[2]?.kills], [[], []]);
      const [event] = events;
      assert.equal(event?.type, 'worker-suspect');
      assert.equal(event?.worker, 1);
      assert.ok(Number(event?.detail?.['silent_ms']) > LIMIT_MS);
    });
  });

  it('takes a Redis outage for the death of all workers', async () => {
    // Goal: the weakness that mode `progress` does not have, shown: nobody died, everybody is killed.
    await withWorkers(async ({ server, children, seats, events }) => {
      await server.kill();
      await until('the verdicts', () => seats.every(({ kills }) => kills.length > 0));
      assert.ok(children.every((child) => child.exitCode === null && child.signalCode === null));
      assert.equal(events.filter(({ type }) => type === 'warning').length, 1);
      assert.match(events[0]?.message ?? '', /no heartbeats can be read: Redis at/);
    });
  });
});

describe('mode account in a real crew', { timeout: 120_000, skip: NO_REDIS }, () => {
  it('kills and restarts a frozen worker by its heartbeat, and leaves it alone before', async () => {
    // Goal: the heart, the detector and the crew fit together: the address reaches the workers, and death has the cause `heartbeat`.
    const server = await startRedis();
    const kept = { ...process.env };
    Object.assign(process.env, { ENVLADDER_REDIS_URL: server.url, ENVLADDER_REDIS_PREFIX: 't' });
    const events: CrewEvent[] = [];
    let readBeats: StateStore['readBeats'] = async () => new Map();
    const detector = createAccountDetector({
      store: { readBeats: () => readBeats() },
      emit: (event) => events.push(event),
      scanEveryMs: 200,
      limitMs: 4_000,
    });
    let store: StateStore | undefined;
    try {
      const { crew, runId, deaths, workerPid, event } = await raiseTestCrew(
        { tiers: [8], mix: { cartpole: 1 }, workers: 2, health: { mode: 'account', account: { beatSeconds: 0.1 }, graceSeconds: 0.2 } },
        { seams: { detector } },
      );
      store = openRedisStateStore({ url: server.url, prefix: 't', runId });
      readBeats = store.readBeats;
      await until('beats of both', async () => (await store?.readBeats().catch(() => new Map()))?.size === 2);
      process.kill(workerPid(1), 'SIGSTOP');
      await until('the death', () => deaths.length > 0, 60_000);
      assert.deepEqual(
        deaths.map(({ worker, cause, restarted }) => [worker, cause, restarted]),
        [[1, 'heartbeat', true]],
      );
      await until('its next life', () => event('worker-restarted')?.worker === 1);
      assert.deepEqual(
        events.map(({ type, worker }) => [type, worker]),
        [['worker-suspect', 1]],
      );
      await crew.stop(1_000);
    } finally {
      await stopAllCrews();
      store?.close();
      for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
      await server.remove();
    }
  });
});

describe('heartbeats', { timeout: 30_000 }, () => {
  it('condemn exactly who is silent for longer than the limit', () => {
    // Goal: for any beats and lives, the verdict is the rule and nothing else.
    const seat = fc.record({ since: fc.integer({ min: 0, max: 200 }), beat: fc.option(fc.integer({ min: 0, max: 200 })) });
    fc.assert(
      fc.property(fc.array(seat, { maxLength: 8 }), fc.integer({ min: 1, max: 150 }), (seats, limitMs) => {
        const beats = new Map(seats.flatMap(({ beat }, worker) => (beat === null ? [] : [[worker, beat] as const])));
        const dead = judgeHeartbeats(
          200,
          limitMs,
          seats.map(({ since }, worker) => ({ worker, sinceMs: since })),
          beats,
        ).map(({ worker }) => worker);
        const wanted = seats.flatMap(({ since, beat }, worker) =>
          200 - since > limitMs && (beat === null || 200 - beat > limitMs) ? [worker] : [],
        );
        assert.deepEqual(dead, wanted);
      }),
    );
  });

  it('give a new life the whole limit, and spare who is not up', async () => {
    // Goal: the old life's last beat does not kill the new one.
    const store = createTwinStateStore();
    await store.writeBeat(0, 0);
    await store.writeBeat(1, 0);
    let nowMs = 50;
    const kills: number[] = [];
    const kill = (worker: number) => (): void => void kills.push(worker);
    const posts = [
      { worker: 0, pid: 10, state: 'up' as const, kill: kill(0) },
      { worker: 1, pid: 11, state: 'waiting' as const, kill: kill(1) },
    ];
    const detector = createAccountDetector({ store, emit: () => undefined, scanEveryMs: 5, limitMs: 100, nowMs: () => nowMs });
    try {
      detector.start(posts);
      nowMs = 160;
      await until('a kill', () => kills.length > 0);
      // The life that follows is first seen now.
      (posts[0] as { pid: number }).pid = 12;
      kills.length = 0;
      nowMs = 255;
      await new Promise((done) => setTimeout(done, 50));
      assert.equal(kills.length, 0);
      nowMs = 400;
      await until('a kill of the new life', () => kills.length > 0);
    } finally {
      detector.stop();
    }
    assert.ok(!kills.includes(1));
  });

  it('are tried again when nobody received them', async (t) => {
    // Goal: a lost beat is counted, and the next one comes all the same.
    const store = createTwinStateStore();
    store.fail('down');
    const heart = createAccountHeart({ store, everyMs: 5, nowMs: () => 77 });
    t.after(heart.stop);
    heart.start(3, 0);
    await until('lost beats', () => heart.counts().lost > 2);
    store.fail(null);
    await until('a beat', async () => (await store.readBeats()).get(3) === 77);
    heart.stop();
    const { sent } = heart.counts();
    await new Promise((done) => setTimeout(done, 50));
    assert.ok(heart.counts().sent <= sent + 1);
  });

  it('need a Redis to go to', () => {
    // Goal: without an address there is no heart, rather than one that fails for ever.
    assert.equal(accountHeartFrom({}, 'r1', 0, 1_000), undefined);
  });
});
