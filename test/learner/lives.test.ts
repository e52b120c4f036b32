import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { EnvStats, FromLearner, LearnerBase } from '../../harness/contract/messages.js';
import type { LearnerSnapshot } from '../../harness/contract/snapshot.js';
import { type BackendName, openBackend } from '../../harness/learner/backends.js';
import { until } from '../fixtures/until.js';
import { BLOCK_SLOTS, createLearnerRig, type Life, unexplained } from './learner-rig.js';

const WATCHDOG = { timeout: 60_000 };

const said = <Type extends FromLearner['type']>(life: Life, type: Type) =>
  life.heard.filter((message): message is Extract<FromLearner, { type: Type }> => message.type === type);

/** Asks for snapshots until one satisfies `enough`; each must balance. */
async function goOn(life: Life, enough: (now: LearnerSnapshot) => boolean): Promise<LearnerSnapshot> {
  let now = await life.snapshot();
  await until(async () => {
    now = await life.snapshot();
    assert.equal(unexplained(now), 0, `a snapshot does not balance: ${JSON.stringify(now)}`);
    return enough(now);
  });
  return now;
}

describe('a learner that takes over from one that died', () => {
  for (const mode of ['ppo', 'random'] as const) {
    it(`counts on from the last snapshot and balances from its first one on, wherever death struck: ${mode}`, WATCHDOG, async (test) => {
      // Goal: no frame is lost or counted twice over any number of learners; what died with one has the reason learner-died.
      const rig = createLearnerRig(test);
      let base: LearnerBase | null = null;
      let last: LearnerSnapshot | null = null;
      for (const [life, deadly] of [3, 11, 1, 40].entries()) {
        const learner = rig.live({ mode, life, base, adopt: life === 0 ? [] : rig.allBlocks });
        // The base is what a supervisor heard some time before the death.
        const first = await learner.snapshot();
        assert.equal(unexplained(first), 0, `life ${life} balances when it is ready`);
        if (life === 0) learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
        await learner.dieAfter(deadly);
        base = first;
        last = first;
      }
      const learner = rig.live({ mode, life: 4, base, adopt: rig.allBlocks });
      const first = await learner.snapshot();
      assert.equal(unexplained(first), 0);
      assert.ok(first.dropped['learner-died'] > (last?.dropped['learner-died'] ?? 0), 'the fourth life took frames that nobody told of');
      const later = await goOn(learner, (now) => now.taken > first.taken + 300 && (mode !== 'ppo' || now.updates > 10));
      assert.equal(later.dropped['learner-died'], first.dropped['learner-died'], 'only adoption drops for this reason');
      const end = await learner.stop();
      assert.equal(unexplained(end), 0);
      assert.equal(end.pending, 0);
      assert.equal(end.outOfOrder, 0);
      assert.equal(end.taken, rig.scan().taken);
    });
  }

  it('counts everything on: updates, batches, bytes, episodes, phases, latency of the tier', WATCHDOG, async (test) => {
    // Goal: rates and totals of a tier know no learner's death.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    let base = await goOn(learner, (now) => now.updates >= 3 && (now.kinds.counting?.episodes ?? 0) > 6);
    await learner.dieAfter(9);
    base = { ...base, torn: 2, batchFill: 0.5 };
    const next = rig.live({ life: 1, base, adopt: rig.allBlocks });
    await next.ready();
    const first = await next.snapshot();
    for (const count of ['updates', 'batches', 'bytesCopied', 'torn', 'trained'] as const) {
      assert.ok(first[count] >= base[count], `${count}: ${first[count]} after ${base[count]}`);
    }
    const episodes = base.kinds.counting?.episodes ?? 0;
    assert.ok((first.kinds.counting?.episodes ?? 0) >= episodes);
    assert.ok(first.phaseSeconds.train >= base.phaseSeconds.train);
    const countOf = ({ latency }: LearnerSnapshot) => latency.count.reduce((sum, count) => sum + count, 0);
    assert.ok(countOf(first) >= countOf(base), 'the tier keeps its latencies');
    const later = await goOn(next, (now) => (now.kinds.counting?.episodes ?? 0) > episodes + 5);
    assert.ok((later.kinds.counting?.returnSum ?? 0) > (base.kinds.counting?.returnSum ?? 0));
    next.send({ type: 'measure', tier: 1 });
    assert.ok(countOf(await next.snapshot()) < countOf(base), 'and forgets them when the next one is measured');
    await next.stop();
  });

  it('answers no snapshot before it has taken in the live blocks', WATCHDOG, async (test) => {
    // Goal: whoever asks while the backend still loads gets numbers that add up, later.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    const base = await goOn(learner, (now) => now.updates > 2);
    await learner.dieAfter(9);
    let load: () => void = () => undefined;
    const loaded = new Promise<void>((resolve) => {
      load = resolve;
    });
    const openLate = async (wanted: BackendName | 'auto') => {
      await loaded;
      return openBackend(wanted);
    };
    const next = rig.live({ life: 1, base, adopt: rig.allBlocks }, { openBackend: openLate });
    const asked = next.snapshot();
    next.send({ type: 'measure', tier: 0 });
    await new Promise((turned) => setImmediate(turned));
    assert.equal(next.heard.length, 0);
    load();
    assert.equal(unexplained(await asked), 0);
    await next.stop();
  });

  it('keeps blocks that were given up in the sums and leaves them alone', WATCHDOG, async (test) => {
    // Goal: a lost range plus a lost learner still balance.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await goOn(learner, (now) => now.taken > 100);
    rig.abandon(1);
    learner.send({ type: 'drop', blocks: [[0, 1]] });
    const base = await goOn(learner, (now) => now.updates > 3);
    await learner.dieAfter(9);
    const next = rig.live({ life: 1, base, adopt: [[0, 0]], lost: [[0, 1]] });
    await goOn(next, (now) => now.taken > base.taken + 100);
    const end = await next.stop();
    assert.equal(unexplained(end), 0);
    assert.equal(end.taken, rig.scan().taken);
    const mistaken = rig.live({ life: 2, base: end, adopt: [[0, 0]] });
    await assert.rejects(
      mistaken.done,
      (error) =>
        error instanceof EnvladderError && error.code === 'learner-died' && /frames have a fate, only \d+ were taken/.test(error.message),
    );
  });

  it('keeps the statistics of every env absolute', WATCHDOG, async (test) => {
    // Goal: per-env returns in Redis and in the report never fall back to zero.
    const rig = createLearnerRig(test);
    const known: EnvStats = {
      envIds: Int32Array.of(103, 999),
      episodes: Float64Array.of(40, 7),
      returnSum: Float64Array.of(400, 1),
      lengthSum: Float64Array.of(400, 1),
      lastReturn: Float64Array.of(11, 1),
    };
    const before = rig.live();
    before.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    const base = await before.snapshot();
    await before.dieAfter(10);
    const learner = rig.live({ life: 1, base: { ...base, envStats: known }, adopt: rig.allBlocks });
    await goOn(learner, (now) => (now.kinds.counting?.episodes ?? 0) > 40);
    await learner.stop();
    const stats = said(learner, 'env-stats').at(-1)?.stats;
    assert.ok(stats !== undefined, 'they are told at stop');
    assert.equal(stats.envIds.length, 2 * BLOCK_SLOTS);
    for (const [i, envId] of stats.envIds.entries()) {
      const length = 5 + (((envId - 100) % BLOCK_SLOTS) % 5);
      const own: number = (stats.episodes[i] as number) - (envId === 103 ? 40 : 0);
      assert.ok(own >= 2, `env ${envId} has ended ${own} episodes`);
      assert.equal(
        (stats.lengthSum[i] as number) - (envId === 103 ? 400 : 0),
        own * length,
        'an episode that began before this life does not count',
      );
      assert.equal(stats.lastReturn[i], length);
    }
  });
});

describe('a learner under orders', () => {
  it('takes a quarantined env in again when it is released', WATCHDOG, async (test) => {
    // Goal: `envladder ctl release` brings the env back to training, under exact sums; releasing an unknown env is a warning.
    for (const mode of ['ppo', 'random'] as const) {
      const rig = createLearnerRig(test, 1);
      const learner = rig.live({ mode });
      learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
      await goOn(learner, (now) => now.taken > 100);
      const out = 2;
      rig.writer(0).quarantine(out);
      await goOn(learner, (now) => now.dropped.quarantined > 0);
      const counted = rig.segment().scan(0);
      assert.equal(counted.quarantined, 1);
      learner.send({ type: 'release', envId: 100 + out });
      rig.writer(0).release(out);
      const before = await learner.snapshot();
      await goOn(learner, (now) => now.taken > before.taken + 200 && now.updates >= before.updates + (mode === 'ppo' ? 5 : 0));
      assert.equal(rig.segment().scan(0).quarantined, 0);
      learner.send({ type: 'release', envId: 7 });
      await until(() => said(learner, 'warning').some(({ message }) => message.includes('env 7')));
      const end = await learner.stop();
      assert.equal(unexplained(end), 0);
      const stats = said(learner, 'env-stats').at(-1)?.stats;
      assert.ok((stats?.episodes[out] ?? 0) > 5, 'the released env has ended episodes again');
    }
  });

  it('reads a replaced segment on, its rows and sums unbroken', WATCHDOG, async (test) => {
    // Goal: a worker whose death cannot be confirmed costs its open trajectories, nothing else.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await goOn(learner, (now) => now.updates > 3);
    rig.moveTo(1);
    learner.send({ type: 'replace-segment', worker: 0, path: '/dev/null' });
    await until(() => said(learner, 'segment-replaced').length > 0);
    const before = await learner.snapshot();
    assert.equal(unexplained(before), 0);
    for (const [, block] of rig.allBlocks) rig.openBlock(block, 1);
    await goOn(learner, (now) => now.taken > before.taken + 200 && now.updates > before.updates + 3);
    const end = await learner.stop();
    assert.equal(unexplained(end), 0);
    assert.equal(end.outOfOrder, 0);
    assert.equal(end.taken, rig.scan().taken);
    assert.ok(end.dropped.reset >= before.dropped.reset + 2 * BLOCK_SLOTS, 'every env began anew');
  });

  it('gives up with a clear error when a replaced segment cannot be opened', WATCHDOG, async (test) => {
    // Goal: never read on in memory that nobody writes; a restart gets the right fd.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'replace-segment', worker: 0, path: '/proc/self/fd/99999' });
    await assert.rejects(
      learner.done,
      (error) => error instanceof EnvladderError && error.code === 'bad-segment' && /worker 0/.test(error.message),
    );
  });

  it('reports itself every second and stamps each turn of its loop', WATCHDOG, async (test) => {
    // Goal: the supervisor can tell working, waiting, frozen and blocked apart.
    const rig = createLearnerRig(test);
    const learner = rig.live();
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await until(() => said(learner, 'stats').length > 0);
    const { report, snapshot } = said(learner, 'stats')[0] as Extract<FromLearner, { type: 'stats' }>;
    assert.ok(report.rssBytes > 1e6 && report.heapBytes > 1e6 && report.fds > 2, JSON.stringify(report));
    assert.equal(report.frames, snapshot.taken, 'in a first life, all frames are its own');
    const line = rig.control.progress(1);
    await until(() => {
      const now = rig.control.progress(1);
      return now.loopMs > line.loopMs && now.loops > line.loops;
    });
    assert.equal(rig.control.progressWords(1)[5], process.pid);
    await learner.stop();
  });

  it('leaves its rows to a successor when somebody else ends it, and settles them when the supervisor does', WATCHDOG, async (test) => {
    // Goal: SIGTERM costs no frame its fate: the next life drops what was open as learner-died.
    const rig = createLearnerRig(test);
    let asked = false;
    const learner = rig.live({}, { terminated: () => asked });
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await goOn(learner, (now) => now.updates > 3 && now.pending > 0);
    asked = true;
    await learner.done;
    assert.equal(said(learner, 'stopped').length, 0);
    await until(() => said(learner, 'env-stats').length > 0);
    const base = said(learner, 'stats').at(-1)?.snapshot as LearnerSnapshot;
    assert.equal(unexplained(base), 0);
    const next = rig.live({ life: 1, base, adopt: rig.allBlocks });
    await goOn(next, (now) => now.taken > base.taken + 100);
    assert.equal(unexplained(await next.stop()), 0);
  });
});
