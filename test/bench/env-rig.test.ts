import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { raiseBareRig } from '../../harness/bench/bare-rig.js';
import { raiseEnvRig } from '../../harness/bench/env-rig.js';
import { floatOutput } from '../../harness/bench/outputs.js';
import { parseAnonymousBytes } from '../../harness/bench/process-counts.js';

const ownFds = (): number => readdirSync('/proc/self/fd').length;

test('the rig counts every frame and tells steps from resets', { timeout: 60_000 }, async () => {
  // Goal: steps a second are not flattered by autoreset rows, and no frame is counted twice or lost.
  const envs = 64;
  const rig = await raiseEnvRig({ kind: 'probe', config: { episodeSteps: 4 }, envs, outputs: floatOutput('vector') });
  try {
    const consumed = [rig.consume(600), rig.consume(600)];
    for (const { frames, steps, batches, seconds, workerCpuNs, consumerCpuNs } of consumed) {
      // Four steps and one reset an episode, but for an episode per env cut at either end of the window.
      assert.ok(Math.abs(steps - frames * 0.8) <= 2 * envs, `${steps} steps of ${frames} frames`);
      assert.ok(batches > 0, `${batches} batches`);
      assert.ok(seconds >= 0.6, `${seconds} s`);
      assert.ok(workerCpuNs > 0, `${workerCpuNs} ns of the worker`);
      assert.ok(consumerCpuNs > 0, `${consumerCpuNs} ns of the consumer`);
    }
    const { published, taken } = rig.segment.scan(0);
    assert.ok(published - taken <= envs);
    assert.equal(rig.reader.stats.collected, taken);
    assert.equal(rig.reader.stats.torn + rig.reader.stats.outOfOrder, 0);
    assert.ok(rig.firstBatchS > 0 && rig.allLiveS >= rig.firstBatchS, `${rig.firstBatchS} s, ${rig.allLiveS} s`);
  } finally {
    await rig.close();
  }
});

test('a closed rig leaves no process and no descriptor', { timeout: 60_000 }, async () => {
  // Goal: rows measured one after the other do not pay for each other.
  const once = async (): Promise<number> => {
    const rig = await raiseEnvRig({ kind: 'noop', envs: 16, outputs: floatOutput('vector') });
    await rig.close();
    return rig.workerPid;
  };
  await once();
  const before = ownFds();
  const pid = await once();
  assert.equal(existsSync(`/proc/${pid}`), false);
  assert.ok(ownFds() <= before, `${ownFds()} fds, ${before} before`);
});

test('a worker that cannot build its envs ends the bench with the reason', { timeout: 60_000 }, async () => {
  // Goal: a bench never waits out its deadline for envs that will not come.
  const config = { kind: 'noop', schedule: [{ fault: 'throw', on: 'construct' }] };
  await assert.rejects(raiseEnvRig({ kind: 'fault', config, envs: 8, outputs: floatOutput('vector') }), /scheduled fault in construct/);
});

test('the bare rig runs about as long as it is asked to', { timeout: 60_000 }, async () => {
  // Goal: the denominator of cartpole_vs_bare comes from a run of its own process with whole rounds of steps.
  const bare = await raiseBareRig(64, { kind: 'cartpole' });
  try {
    const { steps, seconds } = await bare.run(50);
    assert.ok(steps > 0 && steps % 64 === 0);
    assert.ok(seconds > 0);
  } finally {
    await bare.close();
  }
});

test('private memory is read from smaps_rollup', () => {
  // Goal: shared mappings do not count as bookkeeping.
  assert.equal(parseAnonymousBytes('Rss: 900 kB\nAnonymous:          120 kB\nShmemPmdMapped: 7 kB\n'), 120 * 1024);
  assert.equal(parseAnonymousBytes(''), 0);
});
