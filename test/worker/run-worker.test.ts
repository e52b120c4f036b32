import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { ABANDONED, FIRST, QUARANTINED } from '../../harness/contract/frame-flags.js';
import { runTwinWorker, stopTwinWorkers, type TwinWorker } from '../fixtures/twin-worker.js';
import { until } from '../fixtures/until.js';
import { habits } from '../fixtures/worker-kinds.js';

const WATCHDOG = { timeout: 20_000 };
const NO_REBUILDS = { envBudget: { restarts: 0 }, coolDowns: 0 };

const built = (worker: TwinWorker): unknown[] =>
  worker.heard.flatMap((message) => (message.type === 'block-built' ? [[message.block, message.built, message.failed]] : []));
const failedIds = (worker: TwinWorker): number[] =>
  worker.heard.flatMap((message) =>
    message.type === 'env-failures' ? [...message.failures.map(({ envId }) => envId), ...Object.values(message.also).flat()] : [],
  );
const published = (worker: TwinWorker): number => worker.blocks.reduce((sum, block) => sum + worker.segment.scan(block).published, 0);

async function answerUntil(worker: TwinWorker, condition: () => boolean): Promise<[number, number][]> {
  const seen: [number, number][] = [];
  await until(() => {
    seen.push(...worker.answer());
    return condition();
  });
  return seen;
}

async function stop(worker: TwinWorker): Promise<void> {
  worker.send({ type: 'stop' });
  await worker.done;
  await until(() => worker.heard.at(-1)?.type === 'stopped');
}

describe('a worker on the in-memory twin', { timeout: 120_000 }, () => {
  afterEach(stopTwinWorkers);

  it('says ready, builds what it is told to, steps what is answered, and says how many frames it published', WATCHDOG, async () => {
    // Goal: the worker's whole protocol in one life.
    const worker = await runTwinWorker({ tiers: [5, 9], mix: { cartpole: 1 } });
    await until(() => worker.heard[0]?.type === 'ready');
    assert.equal(published(worker), 0, 'no env runs before it is told to');
    worker.send({ type: 'grow', blocks: [worker.blocks[0] as number] });
    const seen = await answerUntil(worker, () => published(worker) >= 50);
    const firsts = [0, 1, 2, 3, 4].map((row) => seen.find(([of]) => of === row)?.[1]);
    assert.deepEqual(firsts, [FIRST, FIRST, FIRST, FIRST, FIRST]);
    assert.equal(worker.segment.scan(worker.blocks[1] as number).published, 0);
    worker.send({ type: 'grow', blocks: [worker.blocks[1] as number] });
    await answerUntil(worker, () => worker.segment.scan(worker.blocks[1] as number).published >= 20);
    assert.deepEqual(built(worker), [
      [worker.blocks[0], 5, 0],
      [worker.blocks[1], 4, 0],
    ]);
    await stop(worker);
    const last = worker.heard.at(-1);
    assert.equal(last?.type === 'stopped' ? last.frames : -1, published(worker));
    assert.equal(worker.control.progress(0).frames, published(worker));
  });

  it('never publishes a frame that nobody asked for', WATCHDOG, async () => {
    // Goal: one frame per answer; an unanswered env waits.
    const worker = await runTwinWorker({ tiers: [6], mix: { cartpole: 1 } });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await until(() => published(worker) === 6);
    const loops = worker.control.progress(0).loops;
    await until(() => worker.control.progress(0).loops > loops + 20);
    assert.equal(published(worker), 6);
    await stop(worker);
  });

  it('builds and closes every env once', WATCHDOG, async () => {
    // Goal: resources of envs are given back at stop.
    habits.length = 0;
    const worker = await runTwinWorker({ tiers: [4], mix: { tidy: 1 } });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await answerUntil(worker, () => published(worker) > 20);
    await stop(worker);
    const all = (what: string): string[] => [0, 1, 2, 3].map((envId) => `${what} ${envId}`);
    assert.deepEqual(habits, [...all('construct'), ...all('close')]);
  });

  it('steps built envs while another is still under construction, and gives that one up at its deadline', WATCHDOG, async () => {
    // Goal: one constructor that never ends holds nobody, and ends as one quarantined env.
    const worker = await runTwinWorker({ tiers: [5], mix: { patient: 1 }, health: { ...NO_REBUILDS, deadlines: { construct: 3 } } });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await answerUntil(worker, () => published(worker) >= 12);
    assert.deepEqual(built(worker), []);
    const seen = await answerUntil(worker, () => built(worker).length > 0);
    assert.deepEqual(built(worker), [[worker.blocks[0], 4, 1]]);
    assert.deepEqual(failedIds(worker), [2]);
    seen.push(...worker.answer());
    await answerUntil(worker, () => worker.segment.scan(worker.blocks[0] as number).quarantined === 1);
    await stop(worker);
  });

  it('does not build barred envs, and reports those retired earlier no second time', WATCHDOG, async () => {
    // Goal: the next life is not taken by the same env.
    const worker = await runTwinWorker({ tiers: [6], mix: { patient: 1 } }, { epoch: 1, barred: [2, 4], retired: [0] });
    worker.send({ type: 'grow', blocks: worker.blocks });
    const seen = await answerUntil(worker, () => built(worker).length > 0 && published(worker) >= 30);
    assert.deepEqual(built(worker), [[worker.blocks[0], 3, 3]]);
    assert.deepEqual(failedIds(worker).sort(), [2, 4]);
    const gone = seen.filter(([, flags]) => flags === (ABANDONED | QUARANTINED)).map(([row]) => row);
    assert.deepEqual(gone.sort(), [0, 2, 4]);
    await stop(worker);
  });

  it('quarantines the whole range of a kind whose create throws; other kinds go on', WATCHDOG, async () => {
    // Goal: a kind without its assets costs its own envs only.
    const worker = await runTwinWorker({ tiers: [80], mix: { stillborn: 0.5, tidy: 0.5 } });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await answerUntil(worker, () => published(worker) > 400 && failedIds(worker).length === 40);
    assert.deepEqual(
      worker.blocks.map((block) => worker.segment.scan(block).quarantined),
      [40, 0],
    );
    const told = worker.heard.find((message) => message.type === 'env-failures');
    assert.match(told?.type === 'env-failures' ? (told.failures[0]?.message ?? '') : '', /create threw Error: no assets/);
    await stop(worker);
  });

  it('gives up with the fenced error when another epoch owns its slots', WATCHDOG, async () => {
    // Goal: a worker taken for dead and replaced cannot go on publishing.
    const worker = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await answerUntil(worker, () => published(worker) > 8);
    worker.segment.fence(worker.blocks[0] as number, 1);
    const before = published(worker);
    const [outcome] = await Promise.all([
      worker.done.then(
        () => null,
        (error: unknown) => error,
      ),
      answerUntil(worker, () => true),
    ]);
    assert.equal((outcome as { detail?: { fenced?: boolean } }).detail?.fenced, true);
    assert.equal(published(worker), before);
  });

  it('rejects with the module error when the module cannot be loaded', WATCHDOG, async () => {
    // Goal: a bad module is said by its own code.
    const worker = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } }, { module: '/nonexistent/kinds.ts' });
    await assert.rejects(worker.done, { code: 'bad-module' });
  });

  it('starts its heart when it is ready and stops it at its end, also at a bad one', WATCHDOG, async () => {
    // Goal: a heartbeat of the application's own making lives as long as its worker.
    const beats: string[] = [];
    const heart = {
      start: (worker: number, epoch: number) => void beats.push(`start ${worker} ${epoch}`),
      stop: () => void beats.push('stop'),
    };
    const worker = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } }, { epoch: 2 }, { heart });
    await until(() => beats.length === 1);
    await stop(worker);
    const fenced = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } }, {}, { heart });
    fenced.send({ type: 'grow', blocks: fenced.blocks });
    await answerUntil(fenced, () => published(fenced) > 4);
    fenced.segment.fence(fenced.blocks[0] as number, 1);
    await Promise.all([assert.rejects(fenced.done), answerUntil(fenced, () => beats.length === 4)]);
    assert.deepEqual(beats, ['start 0 2', 'stop', 'start 0 0', 'stop']);
  });

  it('ends when its process is asked to, as with a stop', WATCHDOG, async () => {
    // Goal: SIGTERM and the message are one thing to a worker.
    const ending = new AbortController();
    const worker = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } }, {}, { ending: ending.signal });
    worker.send({ type: 'grow', blocks: worker.blocks });
    await answerUntil(worker, () => published(worker) > 8);
    ending.abort();
    await worker.done;
    await until(() => worker.heard.at(-1)?.type === 'stopped');
  });

  it('stops while it is still starting', WATCHDOG, async () => {
    // Goal: Ctrl-C during start is heard.
    const worker = await runTwinWorker({ tiers: [4], mix: { cartpole: 1 } });
    worker.send({ type: 'stop' });
    await worker.done;
    assert.equal(published(worker), 0);
  });
});
