// Goal: the state store in Redis and its twin in memory do the same, so that what is tested on one holds for the other.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openRedisStateStore } from '../../harness/bus/state/redis-state-store.js';
import { MAX_STREAM_ENTRIES, type StateStore } from '../../harness/bus/state/state-store.js';
import { createTwinStateStore } from '../../harness/bus/state/twin-state-store.js';
import { NO_REDIS, type RedisServer, startRedis } from '../fixtures/redis-server.js';
import { infoAt, lookAt, until } from './state-fixture.js';

interface Made {
  readonly store: StateStore;
  wipe(): Promise<void>;
}

function suite(
  name: string,
  make: () => Promise<Made>,
  options: { skip: string | false; before?: () => Promise<void>; after?: () => Promise<void> },
): void {
  describe(`state store: ${name}`, { timeout: 60_000, skip: options.skip }, () => {
    before(async () => options.before?.());
    after(async () => options.after?.());

    const using = async (work: (made: Made) => Promise<void>): Promise<void> => {
      const made = await make();
      try {
        await work(made);
      } finally {
        made.store.close();
      }
    };

    it('gives back what was written', async () => {
      // Goal: no figure changes on its way, packed or not.
      await using(async ({ store }) => {
        const look = lookAt(41, 2_345);
        assert.deepEqual(await store.readInfo(), null);
        assert.equal(await store.readScores(), null);
        assert.equal(await store.scoresVersion(), 0);
        assert.equal((await store.readEnvs()).states.length, 0);
        const outcome = await store.write({ generation: 'g', ...look });
        assert.equal(outcome.known, false);
        assert.equal(outcome.refused, null);
        assert.deepEqual(await store.readInfo(), look.info);
        assert.deepEqual(await store.readWorkers(), look.workers);
        assert.deepEqual(await store.readEnvs(), look.envs);
        assert.deepEqual(await store.readRewards(), look.rewards);
        assert.deepEqual(await store.readScores(), look.scores);
        assert.equal(await store.scoresVersion(), 1);
      });
    });

    it('keeps the parts that a write leaves out and replaces those it brings', async () => {
      // Goal: a quick write each second does not wipe what the slow ones wrote, and scores of one version never mix with another's.
      await using(async ({ store }) => {
        await store.write({ generation: 'g', ...lookAt(1) });
        const second = await store.write({
          generation: 'g',
          info: infoAt(2),
          workers: [],
          scores: { version: 2, kinds: { pendulum: 1 }, envIds: Int32Array.of(5), envScores: Float32Array.of(0.125) },
        });
        assert.equal(second.known, true);
        assert.equal((await store.readInfo())?.samplingSps, 2);
        assert.equal((await store.readWorkers()).length, 2);
        assert.equal((await store.readEnvs()).frames[0], 1);
        const scores = await store.readScores();
        assert.deepEqual(scores?.kinds, { pendulum: 1 });
        assert.deepEqual([...(scores?.envIds ?? [])], [5]);
      });
    });

    it('tells a writer that the store was wiped or belongs to another', async () => {
      // Goal: a wiped server is noticed at the next write, not at the next full one.
      await using(async ({ store, wipe }) => {
        await store.write({ generation: 'mine', ...lookAt(1) });
        assert.equal((await store.write({ generation: 'mine', ...lookAt(2) })).known, true);
        await wipe();
        assert.equal(await store.readInfo(), null);
        assert.equal((await store.write({ generation: 'mine', ...lookAt(3) })).known, false);
        assert.equal((await store.write({ generation: 'other', ...lookAt(3) })).known, false);
      });
    });

    it('hints at new scores', async () => {
      // Goal: a reader hears of a change without polling, while all is well.
      await using(async ({ store }) => {
        const heard: number[] = [];
        const end = store.onScoresHint((version) => heard.push(version));
        let version = 0;
        await until('a hint', async () => {
          await store.write({ generation: 'g', ...lookAt(1, 3, ++version) });
          return heard.length > 0;
        });
        end();
      });
    });

    it('carries commands in order, each once, and their answers back', async () => {
      // Goal: commands are neither lost nor overtaken nor taken twice.
      await using(async ({ store }) => {
        await store.takeCommands(10);
        const before = await store.sendCommand('first');
        await store.sendCommand('second');
        await store.sendCommand('third');
        const { commands, overrun } = await store.takeCommands(2);
        assert.deepEqual(
          commands.map(({ text }) => text),
          ['first', 'second'],
        );
        assert.equal(overrun, 0);
        for (const each of commands) await store.settleCommand(each.entry, `answer to ${each.text}`);
        const rest = await store.takeCommands(10);
        assert.deepEqual(
          rest.commands.map(({ text }) => text),
          ['third'],
        );
        await store.settleCommand(rest.commands[0]?.entry ?? '', null);
        assert.deepEqual((await store.takeCommands(10)).commands, []);
        const answers = await store.readAnswers(before);
        assert.deepEqual(
          answers.map(({ text }) => text),
          ['answer to first', 'answer to second'],
        );
        assert.equal((await store.readAnswers(answers[0]?.entry ?? '')).length, 1);
      });
    });

    it('keeps at most a thousand waiting commands and counts the others', async () => {
      // Goal: a flood of commands costs the store a bounded stream.
      await using(async ({ store }) => {
        await store.takeCommands(1);
        for (let i = 0; i < MAX_STREAM_ENTRIES + 30; i += 50) {
          await Promise.all(Array.from({ length: 50 }, (_, n) => store.sendCommand(`c${i + n}`)));
        }
        const { commands, overrun } = await store.takeCommands(1);
        assert.equal(overrun, 50);
        assert.equal(commands[0]?.text, 'c50');
      });
    });

    it('takes commands after it was wiped', async () => {
      // Goal: FLUSHALL takes the reader's group with it; the next command is obeyed all the same.
      await using(async ({ store, wipe }) => {
        await store.takeCommands(1);
        await wipe();
        await store.sendCommand('after');
        const texts: string[] = [];
        await until('the command', async () => {
          texts.push(...(await store.takeCommands(5)).commands.map(({ text }) => text));
          return texts.length > 0;
        });
        assert.deepEqual(texts, ['after']);
      });
    });

    it('keeps the newest beat of every worker', async () => {
      // Goal: the detector of mode `account` sees what workers wrote.
      await using(async ({ store }) => {
        await store.writeBeat(0, 1_000);
        await store.writeBeat(3, 1_500);
        await store.writeBeat(0, 2_000);
        assert.deepEqual(
          [...(await store.readBeats())].sort(([a], [b]) => a - b),
          [
            [0, 2_000],
            [3, 1_500],
          ],
        );
      });
    });
  });
}

suite(
  'twin',
  async () => {
    const store = createTwinStateStore();
    return { store, wipe: async () => store.wipe() };
  },
  { skip: false },
);

let server: RedisServer;
suite(
  'redis',
  async () => {
    const store = openRedisStateStore({ url: server.url, prefix: 'test', runId: randomUUID() });
    await until('a connection', () =>
      store.scoresVersion().then(
        () => true,
        () => false,
      ),
    );
    return { store, wipe: async () => void (await server.admin().flushall()) };
  },
  {
    skip: NO_REDIS,
    before: async () => {
      server = await startRedis();
    },
    after: () => server.remove(),
  },
);
