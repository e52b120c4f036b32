// Goal: the parts around the state store keep their word without a server: newest look wins, losses are said once, commands obeyed once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { obeyOnce } from '../../harness/bus/obey-once.js';
import { askByState } from '../../harness/bus/state/ask-by-state.js';
import { startCommandReader } from '../../harness/bus/state/command-reader.js';
import { packEnvs, packRewards, packScores, unpackEnvs, unpackRewards, unpackScores } from '../../harness/bus/state/env-pack.js';
import { parseRedisUrl, redisUrl, shownRedis } from '../../harness/bus/state/redis-address.js';
import { createStateMirror } from '../../harness/bus/state/state-mirror.js';
import type { StateBatch, StateStore } from '../../harness/bus/state/state-store.js';
import { createTwinStateStore } from '../../harness/bus/state/twin-state-store.js';
import { watchScores } from '../../harness/bus/state/watch-scores.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { lookAt, until } from './state-fixture.js';

describe('the state mirror', { timeout: 30_000 }, () => {
  it('writes the newest look only, and counts the others', async () => {
    // Goal: while a write is under way at most one look waits, however many are offered.
    const twin = createTwinStateStore();
    const batches: StateBatch[] = [];
    const gates: (() => void)[] = [];
    const store: StateStore = {
      ...twin,
      async write(batch) {
        batches.push(batch);
        await new Promise<void>((done) => gates.push(done));
        return twin.write(batch);
      },
    };
    const mirror = createStateMirror({ store, onEvent: () => undefined });
    for (let mark = 1; mark <= 1_000; mark++) mirror.offer(lookAt(mark));
    assert.equal(batches.length, 1);
    gates.shift()?.();
    await until('the second write', () => batches.length === 2);
    assert.equal(batches[1]?.info.samplingSps, 1_000);
    gates.shift()?.();
    await until('it to land', () => mirror.counts().written === 2);
    assert.deepEqual(mirror.counts(), { offered: 1_000, written: 2, full: 1, superseded: 998, failed: 0, refused: 0 });
    await mirror.close();
  });

  it('says a loss once and a return once, with what was missed', async () => {
    // Goal: an hour without a store is two events, not 3,600.
    const store = createTwinStateStore();
    const events: { type: string; message: string; detail: Readonly<Record<string, unknown>> }[] = [];
    const mirror = createStateMirror({ store, onEvent: (event) => events.push(event) });
    const offer = async (mark: number): Promise<void> => {
      const { written, failed, refused } = mirror.counts();
      mirror.offer(lookAt(mark));
      await until('the outcome', () => {
        const now = mirror.counts();
        return now.written + now.failed + now.refused > written + failed + refused;
      });
    };
    await offer(1);
    store.fail('nobody there');
    for (let mark = 2; mark < 7; mark++) await offer(mark);
    assert.equal(mirror.lost(), 'nobody there');
    store.fail(null);
    store.refuse('OOM command not allowed');
    for (let mark = 7; mark < 10; mark++) await offer(mark);
    store.refuse(null);
    await offer(10);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['state-lost', 'state-back'],
    );
    assert.match(events[0]?.message ?? '', /lost: nobody there; the run goes on without it/);
    assert.equal(events[1]?.detail['missed'], 8);
    assert.deepEqual(mirror.counts(), { offered: 10, written: 2, full: 2, superseded: 0, failed: 5, refused: 3 });
    assert.equal((await store.readInfo())?.samplingSps, 10);
    await mirror.close();
  });

  it('writes everything again into a wiped store at once, with parts that no look has brought for long', async () => {
    // Goal: after FLUSHALL the slow parts do not wait for the next full write.
    const store = createTwinStateStore();
    const mirror = createStateMirror({ store, onEvent: () => undefined, fullEveryMs: 3_600_000 });
    const quick = (mark: number) => ({ info: lookAt(mark).info, workers: lookAt(mark).workers });
    mirror.offer(lookAt(1));
    await until('the first', () => mirror.counts().written === 1);
    mirror.offer(quick(2));
    await until('the second', () => mirror.counts().written === 2);
    assert.equal(mirror.counts().full, 1);
    store.wipe();
    mirror.offer(quick(3));
    await until('a full one', () => mirror.counts().full === 2);
    assert.equal((await store.readEnvs()).frames[0], 1);
    assert.equal((await store.readRewards()).episodes[0], 1);
    assert.equal(await store.scoresVersion(), 1);
    await mirror.close();
  });

  it('writes new scores with the next look and unchanged ones only in full', async () => {
    // Goal: a change is seen within a second, and the same version is not sent each second.
    const twin = createTwinStateStore();
    const sent: (number | undefined)[] = [];
    const store: StateStore = {
      ...twin,
      write(batch) {
        sent.push(batch.scores?.version);
        return twin.write(batch);
      },
    };
    const mirror = createStateMirror({ store, onEvent: () => undefined, fullEveryMs: 3_600_000 });
    for (const [index, version] of [1, 1, 2, 2].entries()) {
      mirror.offer(lookAt(index, 3, version));
      await until('a write', () => mirror.counts().written === index + 1);
    }
    assert.deepEqual(sent, [1, undefined, 2, undefined]);
    await mirror.close();
  });

  it('ends in time when the store hangs, and says nothing after', async () => {
    // Goal: a stop is not held up by the view.
    const twin = createTwinStateStore();
    const events: unknown[] = [];
    const store: StateStore = { ...twin, write: () => new Promise(() => undefined) };
    const mirror = createStateMirror({ store, onEvent: (event) => events.push(event) });
    mirror.offer(lookAt(1));
    await mirror.close(50);
    mirror.offer(lookAt(2));
    assert.equal(mirror.counts().offered, 1);
    assert.deepEqual(events, []);
  });
});

describe('commands by the state store', { timeout: 30_000 }, () => {
  const answerOk = obeyOnce(async (command) => ({ id: command.id, ok: true, message: `did ${command.command}` }));

  it('are obeyed and answered', async (t) => {
    // Goal: a tool far away gets its answer.
    const store = createTwinStateStore();
    const reader = startCommandReader({ store, obey: answerOk, everyMs: 5 });
    t.after(reader.close);
    assert.equal((await askByState(store, { id: 'a', command: 'status' })).message, 'did status');
    assert.equal((await askByState(store, { id: 'b', command: 'checkpoint' })).message, 'did checkpoint');
    await reader.close();
    await assert.rejects(askByState(store, { id: 'c', command: 'status' }, 50), /no answer to status within 0.05 s/);
  });

  it('are obeyed once, also when their answer could not be put back', async (t) => {
    // Goal: a store that fails between the command and its answer does not make a command happen twice.
    const store = createTwinStateStore();
    let times = 0;
    const reader = startCommandReader({
      store,
      everyMs: 5,
      obey: obeyOnce(async (command) => {
        times++;
        store.fail('gone');
        return { id: command.id, ok: true, message: 'replaced' };
      }),
    });
    t.after(reader.close);
    const before = await store.sendCommand(JSON.stringify({ id: 'r', command: 'replace-worker', worker: 1 }));
    await until('it to be obeyed', () => times === 1);
    store.fail(null);
    await until('its answer', async () => (await store.readAnswers(before)).length > 0);
    assert.match((await store.readAnswers(before))[0]?.text ?? '', /replaced/);
    assert.equal(times, 1);
  });

  it('that are none are refused and counted', async (t) => {
    // Goal: whatever lies in the stream, the reader goes on; who gave an id is told why.
    const store = createTwinStateStore();
    const counted: string[] = [];
    const reader = startCommandReader({ store, obey: answerOk, everyMs: 5, onCount: (what) => counted.push(what) });
    t.after(reader.close);
    for (const text of [
      '',
      'x',
      '{"id":"q","command":"format-disk"}',
      '{"id":"q","command":"release","envId":-1}',
      `"${'x'.repeat(20_000)}"`,
    ])
      await store.sendCommand(text);
    assert.equal((await askByState(store, { id: 'good', command: 'status' })).ok, true);
    assert.deepEqual(reader.refused(), { 'not-json': 2, 'unknown-command': 1, 'bad-command': 1, 'too-long': 1 });
    assert.equal(counted.length, 5);
    const answers = (await store.readAnswers('0-0')).map(({ text }) => JSON.parse(text) as { id: string; ok: boolean });
    assert.deepEqual(
      answers.map(({ id, ok }) => [id, ok]),
      [
        ['q', false],
        ['q', false],
        ['good', true],
      ],
    );
  });
});

describe('watching scores', { timeout: 30_000 }, () => {
  it('converges without a single hint', async (t) => {
    // Goal: the hint is a hint; the version is the truth.
    const twin = createTwinStateStore();
    const deaf: StateStore = { ...twin, onScoresHint: () => () => undefined };
    const seen: number[] = [];
    const end = watchScores(deaf, ({ version }) => seen.push(version), 5);
    t.after(end);
    await twin.write({ generation: 'g', ...lookAt(1, 3, 4) });
    await until('the scores', () => seen.at(-1) === 4);
    twin.fail('away');
    await new Promise((done) => setTimeout(done, 20));
    twin.fail(null);
    // A wiped store may begin anew with a lower one.
    await twin.write({ generation: 'g', ...lookAt(1, 3, 2) });
    await until('the newer scores', () => seen.at(-1) === 2);
    assert.deepEqual(seen, [4, 2]);
  });
});

describe('packed figures', () => {
  const number = fc.oneof(fc.double({ noNaN: true }), fc.constant(Number.NaN), fc.integer());
  const ids = fc.uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 200 });

  it('come back as they were, in the order of their ids', () => {
    // Goal: no value, not even NaN or an infinity, changes on its way.
    fc.assert(
      fc.property(ids, fc.array(number, { minLength: 800, maxLength: 800 }), (some, numbers) => {
        const envIds = Int32Array.from(some.sort((a, b) => a - b));
        const column = (offset: number): Float64Array => Float64Array.from(envIds, (_, row) => numbers[row * 4 + offset] ?? 0);
        const stats = { envIds, episodes: column(0), returnSum: column(1), lengthSum: column(2), lastReturn: column(3) };
        assert.deepEqual(unpackRewards(packRewards(stats)), stats);
        const scores = { envIds, envScores: Float32Array.from(column(0)) };
        assert.deepEqual(unpackScores(packScores(scores)), scores);
        const beats = { frames: column(1), states: Uint8Array.from(envIds, (id) => id % 6) };
        assert.deepEqual(unpackEnvs(packEnvs(beats)), beats);
      }),
    );
  });

  it('cost seven fields and 91 kB for 7,000 envs', () => {
    // Goal: what DESIGN calls counting what cannot be noisy: not 7,000 keys.
    const { envs, rewards } = lookAt(1, 7_000);
    assert.ok(envs !== undefined && rewards !== undefined);
    const bytes = (chunks: Readonly<Record<string, Buffer>>): number => Object.values(chunks).reduce((sum, { length }) => sum + length, 0);
    assert.deepEqual([Object.keys(packEnvs(envs)).length, bytes(packEnvs(envs))], [7, 91_000]);
    assert.deepEqual([Object.keys(packRewards(rewards)).length, bytes(packRewards(rewards))], [7, 252_000]);
  });

  it('of a wrong length are left out', () => {
    // Goal: bytes that somebody else put there do not end a reader.
    assert.equal(unpackEnvs({ 0: Buffer.alloc(14) }).states.length, 0);
  });
});

describe('the address of Redis', () => {
  it('is read in all its forms', () => {
    // Goal: what docs/state.md promises.
    assert.deepEqual(parseRedisUrl('redis://host'), { tls: false, host: 'host', port: 6379, db: 0 });
    assert.deepEqual(parseRedisUrl('rediss://u:p%40w@h:1/3'), { tls: true, host: 'h', port: 1, db: 3, username: 'u', password: 'p@w' });
    assert.deepEqual(parseRedisUrl('redis://[::1]:7'), { tls: false, host: '::1', port: 7, db: 0 });
    assert.deepEqual(parseRedisUrl('unix:///run/r.sock?db=2'), { tls: false, path: '/run/r.sock', db: 2 });
    assert.deepEqual(parseRedisUrl('unix://:pw@localhost/run/r.sock'), { tls: false, path: '/run/r.sock', db: 0, password: 'pw' });
    assert.equal(shownRedis(parseRedisUrl('redis://u:secret@h:1/3')), 'redis://h:1/3');
  });

  it('is refused without a word of its password', () => {
    // Goal: a typing error in a URL does not print the secret in it.
    for (const url of [
      '',
      'x',
      'http://:secret@h',
      'redis://:secret@h/db0',
      'redis://:sec%ret@h',
      'unix://:secret@elsewhere/x',
      'redis://:secret@:77',
    ]) {
      assert.throws(
        () => parseRedisUrl(url),
        (error: unknown) =>
          error instanceof EnvladderError && error.code === 'bad-plan' && !/sec/.test(`${error.stack}${JSON.stringify(error.detail)}`),
        url,
      );
    }
  });

  it('comes from the environment before the plan', () => {
    // Goal: a password need not stand in a plan.
    assert.equal(redisUrl('redis://plan', {}), 'redis://plan');
    assert.equal(redisUrl('redis://plan', { ENVLADDER_REDIS_URL: 'redis://env' }), 'redis://env');
    assert.equal(redisUrl(undefined, { ENVLADDER_REDIS_URL: ' ' }), undefined);
  });
});
