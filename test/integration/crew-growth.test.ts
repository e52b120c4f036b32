import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { decodeProbe } from '../../harness/envs/kinds/probe.js';
import type { Segment } from '../../harness/memory/interface.js';
import { fdsOf, raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';

const WATCHDOG = { timeout: 60_000 };

/** Newest seq and observed env id of every slot of the blocks that are live, by env id as laid out. */
function sightings(segments: readonly Segment[]): Map<number, { seq: number; seen: number }> {
  const found = new Map<number, { seq: number; seen: number }>();
  for (const segment of segments) {
    for (const { id, firstEnvId, slots } of segment.spec.blocks) {
      if (segment.scan(id).live === 0) continue;
      for (let slot = 0; slot < slots; slot++) {
        const frame = segment.peek(id, slot, 'vector');
        if (frame !== undefined) found.set(firstEnvId + slot, { seq: frame.seq, seen: decodeProbe(frame.data[0] ?? -1).envId });
      }
    }
  }
  return found;
}

describe('growth of a crew', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('grows 1 -> 3 tiers in place: old envs keep their ids and step on, new ones join', WATCHDOG, async () => {
    // Goal: 1,000 running envs become 3,000 without a restart.
    const test = await raiseTestCrew({ tiers: [30, 60, 90], mix: { probe: 1 }, workers: 2 });
    const { segments } = test;
    const pids = [test.workerPid(0), test.workerPid(1), test.learnerPid()];
    const bytes = [test.crew.shmBytes()];
    for (const tier of [1, 2]) {
      const before = sightings(segments);
      assert.equal(before.size, 30 * tier);
      const start = await test.crew.growTo(tier);
      assert.ok((start.timeToFirstBatchS ?? -1) >= 0);
      assert.ok((start.timeToAllLiveS ?? -1) > 0);
      bytes.push(test.crew.shmBytes());
      assert.equal(test.crew.scan().live, 30 * (tier + 1));
      await until(() => [...sightings(segments)].every(([envId, { seq }]) => seq > (before.get(envId)?.seq ?? 0)));
      for (const [envId, { seen }] of sightings(segments)) assert.equal(seen, envId, 'the env in this place is the one laid out');
    }
    assert.ok((bytes[0] ?? 0) < (bytes[1] ?? 0) && (bytes[1] ?? 0) < (bytes[2] ?? 0), 'memory is taken tier by tier');
    assert.deepEqual(pids, [test.workerPid(0), test.workerPid(1), test.learnerPid()]);
    assert.deepEqual([test.crew.restarts, test.deaths.length], [0, 0]);
    const end = await test.crew.stop(5000);
    assert.equal(end.snapshot?.outOfOrder, 0);
    assert.deepEqual(
      fdsOf(process.pid).filter((target) => target.includes(test.runId)),
      [],
      'no fd of the run stays open',
    );
  });

  it('a worker that died and came back joins the next tier', WATCHDOG, async () => {
    // Goal: growth after a restart hands the new life its blocks under its own epoch.
    const test = await raiseTestCrew({ tiers: [16, 32], mix: { cartpole: 1 }, workers: 2 });
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.deaths.length === 1);
    // The new life is starting or up: both must work.
    const start = await test.crew.growTo(1);
    assert.ok(start.timeToAllLiveS !== null);
    const { live, quarantined } = test.crew.scan();
    assert.deepEqual([live, quarantined], [32, 0], "a kill from outside is no env's fault");
    const end = await test.crew.stop(5000);
    assert.equal(end.snapshot?.outOfOrder, 0);
  });

  it('a tier of a lost worker does not hold the others', WATCHDOG, async () => {
    // Goal: the run goes on smaller instead of waiting for a range nobody steps.
    const test = await raiseTestCrew({ tiers: [16, 32], mix: { cartpole: 1 }, workers: 2, health: { workerBudget: { restarts: 1 } } });
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('worker-restarted') !== undefined);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('range-lost') !== undefined);
    const start = await test.crew.growTo(1);
    assert.ok(start.timeToAllLiveS !== null);
    assert.equal(test.crew.scan().live, 16);
    await test.crew.stop(5000);
  });

  it('reports memory by role', WATCHDOG, async () => {
    // Goal: the record can say what each role costs.
    const test = await raiseTestCrew({ tiers: [16], mix: { noop: 1 }, workers: 2 });
    const memory = test.crew.memory();
    assert.deepEqual(
      Object.entries(memory).map(([role, { processes }]) => [role, processes]),
      [
        ['supervisor', 1],
        ['learner', 1],
        ['worker', 2],
      ],
    );
    for (const { pssBytes, processes } of Object.values(memory)) assert.ok(pssBytes > processes * 1e6);
    await test.crew.stop(5000);
  });

  it('a slow kind does not hold the other kinds of its worker, nor another worker', WATCHDOG, async () => {
    // Goal: chunks are sized by time: while one slow env (50 ms a step) takes its turn, the others take many.
    const slow = { kind: 'fault', share: 0.5, config: { kind: 'cartpole', schedule: [{ fault: 'sleep', ms: 50 }] } };
    const test = await raiseTestCrew({ tiers: [16], mix: { slow, cartpole: 0.5 } });
    const [segment] = test.segments;
    assert.ok(segment !== undefined);
    const frames = (kind: string): number =>
      segment.spec.blocks.filter((block) => block.kind === kind).reduce((sum, { id }) => sum + segment.scan(id).published, 0);
    await until(() => frames('fault') > 8 * 4);
    assert.ok(frames('cartpole') > 4 * frames('fault'), `${frames('cartpole')} against ${frames('fault')} frames`);
    await test.crew.stop(5000);
  });
});
