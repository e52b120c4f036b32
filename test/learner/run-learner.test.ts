import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { twinChannels } from '../../harness/bus/twin-channel.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { FromLearner, FromWorker, LearnerStart, ToLearner, ToWorker } from '../../harness/contract/messages.js';
import type { LearnerSnapshot } from '../../harness/contract/snapshot.js';
import { openBackend } from '../../harness/learner/backends.js';
import { runLearner } from '../../harness/learner/run-learner.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { planBlocks } from '../../harness/supervisor/block-plan.js';
import { runWorker } from '../../harness/worker/run-worker.js';
import { planOf, until } from '../fixtures/test-crew.js';
import { tinyPpo } from './tiny-rig.js';

const WATCHDOG = { timeout: 60_000 };

/** The number of frames that the snapshot's fates do not explain. */
function unexplained(snapshot: LearnerSnapshot): number {
  const { taken, trained, evaluated, superseded, pending, dropped } = snapshot;
  return taken - trained - evaluated - superseded - pending - Object.values(dropped).reduce((sum, count) => sum + count, 0);
}

/** One worker and one learner of a two-tier plan with two space signatures, in this process. No block is taken up yet. */
async function raise(test: TestContext, over: Partial<LearnerStart> = {}) {
  const { plan, entries } = await planOf({ workers: 1, tiers: [12, 24], mix: { cartpole: 0.5, pendulum: 0.5 } });
  const memory = createTwinMemory();
  memory.createControl(2);
  memory.createErrors(2);
  const { segments } = planBlocks('twin', plan, entries);
  const planned = segments[0];
  if (planned === undefined) throw new Error('the plan has no env');
  const segment = memory.createSegment(planned.spec);
  for (const { id } of planned.spec.blocks) segment.allocate(id, 1);
  const common = {
    type: 'start',
    runId: 'twin',
    parentPid: process.pid,
    workers: 1,
    controlFd: -1,
    errorsFd: -1,
    seed: 1,
    autoreset: plan.autoreset,
    entries,
  } as const;
  const spec = planned.spec as unknown as Record<string, unknown>;
  const worker = twinChannels<ToWorker, FromWorker>();
  const workerDone = runWorker(
    {
      ...common,
      role: 'worker',
      worker: 0,
      epoch: 0,
      segment: spec,
      segmentFd: -1,
      check: 'full',
      constructParallel: 4,
      module: null,
      blockEntries: planned.entryOf,
      blocks: [],
      barred: [],
      retired: [],
      slotBySlot: [],
      health: plan.health,
      failed: [],
    },
    { memory, channel: worker.right },
  );
  const learner = twinChannels<ToLearner, FromLearner>();
  const heard: FromLearner[] = [];
  learner.left.onMessage((message) => heard.push(message));
  const learnerDone = runLearner(
    {
      ...common,
      role: 'learner',
      mode: 'ppo',
      backend: 'wasm',
      segments: [{ spec, fd: -1, blockEntries: planned.entryOf }],
      ppo: tinyPpo({ horizon: 8, epochs: 1, readyShare: 0.5 }),
      checkpointDir: null,
      stepPeriodMs: 0,
      resume: null,
      life: 0,
      base: null,
      adopt: [],
      ...over,
    },
    { memory, channel: learner.right, openBackend, nowMs: () => Number(process.hrtime.bigint()) / 1e6, gatherThreads: 1 },
  );
  learnerDone.catch(() => undefined);
  // Whatever the test found: both loops end with it, or the file would never finish.
  test.after(async () => {
    worker.left.send({ type: 'stop' });
    learner.left.send({ type: 'stop', deadlineMs: 1000 });
    await Promise.allSettled([workerDone, learnerDone]);
  });
  let asked = 0;
  const snapshot = async (): Promise<LearnerSnapshot> => {
    const id = ++asked;
    const find = () => heard.find((message) => message.type === 'snapshot' && message.id === id);
    learner.left.send({ type: 'snapshot', id });
    await until(() => find() !== undefined);
    return (find() as Extract<FromLearner, { type: 'snapshot' }>).snapshot;
  };
  const grow = (tier: number): void => {
    const blocks = planned.spec.blocks.filter((_, i) => planned.tierOf[i] === tier).map(({ id }) => id);
    learner.left.send({ type: 'grow', tier, blocks: blocks.map((block) => [0, block] as const) });
    worker.left.send({ type: 'grow', blocks });
  };
  const stop = async (): Promise<LearnerSnapshot> => {
    worker.left.send({ type: 'stop' });
    learner.left.send({ type: 'stop', deadlineMs: 1000 });
    await Promise.all([workerDone, learnerDone]);
    await until(() => heard.some(({ type }) => type === 'stopped'));
    return (heard.find(({ type }) => type === 'stopped') as Extract<FromLearner, { type: 'stopped' }>).snapshot;
  };
  return {
    heard,
    planned,
    segment,
    send: learner.left.send,
    snapshot,
    grow,
    stop,
    learnerDone,
  };
}

describe('a learner with a worker', () => {
  for (const mode of ['ppo', 'random', 'none'] as const) {
    it(`answers two kinds over two tiers and balances to the frame: ${mode}`, WATCHDOG, async (test) => {
      // Goal: the whole life of a learner: ready, first batches, growth, snapshots, stop; published = the sum of all fates.
      const crew = await raise(test, { mode });
      for (const tier of [0, 1]) {
        crew.grow(tier);
        await until(() => crew.heard.some((message) => message.type === 'first-batch' && message.tier === tier));
      }
      let last = await crew.snapshot();
      await until(async () => {
        last = await crew.snapshot();
        assert.equal(unexplained(last), 0, 'every snapshot balances, also in the middle of everything');
        return last.taken > 2000 && (mode !== 'ppo' || last.updates >= 6) && (last.kinds.cartpole?.episodes ?? 0) > 10;
      });
      const end = await crew.stop();
      assert.equal(unexplained(end), 0);
      assert.equal(end.pending, 0);
      assert.equal(end.outOfOrder + end.torn, 0);
      const counts = crew.planned.spec.blocks.map(({ id }) => crew.segment.scan(id));
      assert.equal(
        end.taken,
        counts.reduce((sum, { taken }) => sum + taken, 0),
      );
      assert.equal(end.trained > 0, mode === 'ppo');
      assert.equal(end.evaluated > 0, mode !== 'ppo');
      assert.equal(Object.keys(end.losses).length, mode === 'ppo' ? 2 : 0, 'a policy per space signature');
      const [ready] = crew.heard;
      assert.ok(ready?.type === 'ready', 'ready comes first');
      assert.equal(ready.backend, mode === 'ppo' ? 'wasm' : 'none');
    });
  }

  it('goes on without blocks whose worker is gone, their open frames abandoned', WATCHDOG, async (test) => {
    // Goal: a lost worker costs its envs, not the run; nothing of it is trained half or counted twice.
    const crew = await raise(test);
    crew.grow(0);
    await until(async () => (await crew.snapshot()).updates >= 2);
    const [block] = crew.planned.spec.blocks;
    crew.send({ type: 'drop', blocks: [[0, block?.id ?? -1]] });
    const before = await crew.snapshot();
    await until(async () => {
      const now = await crew.snapshot();
      assert.equal(unexplained(now), 0);
      return now.trained > before.trained + 200;
    });
    const end = await crew.stop();
    assert.ok(end.dropped.abandoned > 0, 'the dropped envs had open frames');
    assert.equal(unexplained(end), 0);
  });

  it('writes a checkpoint at stop and resumes counters and policies from it', WATCHDOG, async (test) => {
    // Goal: --resume goes on where the run stopped.
    const folder = mkdtempSync(join(tmpdir(), 'envladder-resume-'));
    try {
      const first = await raise(test, { checkpointDir: folder });
      first.grow(0);
      await until(async () => (await first.snapshot()).updates >= 4);
      const end = await first.stop();
      const written = first.heard.find(({ type }) => type === 'checkpoint');
      assert.ok(written?.type === 'checkpoint' && written.reason === 'stop', 'a checkpoint was reported');
      const second = await raise(test, { resume: folder });
      const resumed = await second.snapshot();
      assert.equal(resumed.policyVersion, end.policyVersion);
      assert.equal(resumed.updates, 0);
      assert.ok(
        second.heard.some((message) => message.type === 'ready' && message.resumedFrom === written.path),
        'ready names the checkpoint',
      );
      await second.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('gives up at once on a checkpoint that is not there', WATCHDOG, async (test) => {
    // Goal: --resume of nothing is a usage error, not a fresh start.
    const crew = await raise(test, { resume: join(tmpdir(), 'envladder-nothing-here') });
    await assert.rejects(crew.learnerDone, (error) => error instanceof EnvladderError && error.code === 'bad-checkpoint');
  });
});
