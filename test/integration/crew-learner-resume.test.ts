// A PPO learner that is killed in a real crew: it goes on from its newest checkpoint, and the sums still hold.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { holdersOf, raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';

const LEARNER = new URL('../../harness/learner/entry.ts', import.meta.url);
const folders: string[] = [];

afterEach(async () => {
  await stopAllCrews();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

it('a killed PPO learner resumes from its newest checkpoint while the workers wait', { timeout: 90_000 }, async () => {
  // Goal: kill -9 of the learner costs what came after its last checkpoint, and every frame has a fate.
  const checkpointDir = mkdtempSync(join(tmpdir(), 'envladder-learner-'));
  folders.push(checkpointDir);
  const test = await raiseTestCrew(
    {
      tiers: [16],
      mix: { cartpole: 1 },
      workers: 2,
      learner: 'ppo',
      backend: 'wasm',
      ppo: { horizon: 16, epochs: 1 },
      startDeadlineSeconds: 60,
    },
    { checkpointDir, seams: { learnerEntry: LEARNER } },
  );
  await until(() => (test.stats.at(-1)?.updates ?? 0) > 2);
  const answer = await test.crew.obey({ id: 'c', command: 'checkpoint' });
  assert.equal(answer.ok, true, answer.message);
  const workers = [test.workerPid(0), test.workerPid(1)];
  process.kill(test.learnerPid(), 'SIGKILL');
  await until(() => test.event('learner-restarted') !== undefined);
  const from = test.event('learner-restarted')?.detail?.resumedFrom;
  assert.equal(from, answer.detail?.path);
  const before = test.stats.at(-1)?.updates ?? 0;
  await until(() => (test.stats.at(-1)?.updates ?? 0) > before);
  assert.deepEqual([test.workerPid(0), test.workerPid(1)], workers);
  const { snapshot, scan } = await test.crew.stop(10_000);
  assert.ok(snapshot !== null);
  const dropped = Object.values(snapshot.dropped).reduce((sum, count) => sum + count, 0);
  assert.equal(snapshot.taken, snapshot.trained + snapshot.evaluated + snapshot.superseded + dropped + snapshot.pending);
  assert.equal(snapshot.taken, scan.taken);
  assert.ok(snapshot.dropped['learner-died'] > 0);
  assert.deepEqual([snapshot.torn, snapshot.outOfOrder, test.deaths.length], [0, 0, 1]);
  assert.deepEqual(holdersOf(test.runId), []);
});

it('a learner that stands still for three times frozenSeconds is killed and restarted', { timeout: 90_000 }, async () => {
  // Goal: a stopped learner does not stop the run for good.
  const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 1, health: { frozenSeconds: 0.5 } });
  process.kill(test.learnerPid(), 'SIGSTOP');
  await until(() => test.event('learner-restarted') !== undefined);
  assert.deepEqual(
    test.deaths.map(({ role, cause, restarted }) => [role, cause, restarted]),
    [['learner', 'frozen', true]],
  );
  const published = test.crew.scan().published;
  await until(() => test.crew.scan().published > published + 100);
  await test.crew.stop(5000);
});
