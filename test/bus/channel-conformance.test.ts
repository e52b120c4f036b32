import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Channel } from '../../harness/bus/channel.js';
import { ipcChannel } from '../../harness/bus/ipc-channel.js';
import { twinChannels } from '../../harness/bus/twin-channel.js';

/** What the peer of every pair under test does: echoes all it hears; `{leave: true}` makes it close or die. */
type Message = { readonly n: number; readonly value?: unknown } | { readonly leave: true };

interface Pair {
  readonly near: Channel<Message, Message>;
  clear(): Promise<void>;
}

const HALF = fileURLToPath(new URL('../fixtures/echo-child.ts', import.meta.url));

const makers: Record<string, () => Pair> = {
  twin: () => {
    const { left, right } = twinChannels<Message, Message>();
    right.onMessage((message) => {
      if ('leave' in message) right.close();
      else right.send(message);
    });
    return { near: left, clear: async () => left.close() };
  },
  ipc: () => {
    const child = fork(HALF, [], { execArgv: ['--import', 'tsx'], serialization: 'advanced' });
    const exited = once(child, 'exit');
    return {
      near: ipcChannel<Message, Message>(child),
      async clear() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  },
};

function closed(channel: Channel<Message, Message>): Promise<void> {
  return new Promise((done) => channel.onClose(done));
}

for (const [name, make] of Object.entries(makers)) {
  describe(`channel: ${name}`, { timeout: 30_000 }, () => {
    it('delivers all messages in order', async () => {
      // Goal: commands to a child are neither lost nor overtaken.
      const { near, clear } = make();
      const heard: number[] = [];
      const all = new Promise<void>((done) => {
        near.onMessage((message) => {
          if ('n' in message && heard.push(message.n) === 500) done();
        });
      });
      for (let n = 0; n < 500; n++) near.send({ n });
      await all;
      assert.deepEqual(
        heard,
        Array.from({ length: 500 }, (_, n) => n),
      );
      await clear();
    });

    it('carries infinities, undefined and typed arrays unchanged', async () => {
      // Goal: the infinite bounds of a space survive the way to a worker.
      const { near, clear } = make();
      const value = { low: Number.NEGATIVE_INFINITY, high: [Number.POSITIVE_INFINITY, 1], ids: new Int32Array([1, 2]) };
      const back = new Promise<Message>((done) => near.onMessage(done));
      near.send({ n: 1, value });
      assert.deepEqual(await back, { n: 1, value });
      await clear();
    });

    it('keeps what came before anyone listened', async () => {
      // Goal: a `start` that arrives while modules load is not lost.
      const { near, clear } = make();
      const first = new Promise<Message>((done) => near.onMessage(done));
      near.send({ n: 7 });
      await first;
      const { near: late, clear: clearLate } = make();
      late.send({ n: 8 });
      await late.drained();
      await new Promise((done) => setImmediate(done));
      const heard = await new Promise<Message>((done) => late.onMessage(done));
      assert.deepEqual(heard, { n: 8 });
      await clear();
      await clearLate();
    });

    it('tells once that the peer is gone, and drops and counts what is sent to it', async () => {
      // Goal: a dead peer is an event, never an exception or an unhandled error.
      const { near, clear } = make();
      let closes = 0;
      near.onClose(() => closes++);
      near.send({ leave: true });
      await closed(near);
      assert.equal(near.open, false);
      near.send({ n: 1 });
      near.send({ n: 2 });
      assert.ok(near.dropped >= 2);
      await near.drained();
      assert.equal(closes, 1);
      await closed(near);
      await clear();
    });

    it('survives a burst of sends into a peer that is dying', async () => {
      // Goal: EPIPE and a closed channel in mid-send are counted, not thrown.
      const { near, clear } = make();
      near.send({ leave: true });
      const gone = closed(near);
      for (let n = 0; n < 2000; n++) near.send({ n, value: new Uint8Array(1024) });
      await gone;
      await near.drained();
      await clear();
    });

    it('closes from this end', async () => {
      // Goal: either end can hang up.
      const { near, clear } = make();
      near.close();
      await closed(near);
      assert.equal(near.open, false);
      await clear();
    });
  });
}
