// Many deaths at once and one after the other: staggered, within budgets, and an end with a reason when a budget is used up.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { WorkerChild } from '../../harness/supervisor/crew-ports.js';
import { holdersOf, raiseTestCrew, stopAllCrews, type TestCrew, until } from '../fixtures/test-crew.js';

const WATCHDOG = { timeout: 90_000 };

async function allFlow(test: TestCrew): Promise<void> {
  const before = Float64Array.from(test.crew.envFrames());
  await until(() => test.crew.envFrames().every((frames, env) => Number.isNaN(frames) || frames > (before[env] as number)));
}

describe('storms of deaths', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('half of the workers killed at once come back, few at a time, and no env is charged', WATCHDOG, async () => {
    // Goal: a mass death is followed by a queue of restarts that leaves the machine to the others.
    let booting = 0;
    let most = 0;
    let lives = 0;
    const wrapWorker = (child: WorkerChild): WorkerChild => {
      if (++lives > 8) {
        most = Math.max(most, ++booting);
        child.channel.onMessage((message) => {
          if (message.type === 'ready') booting--;
        });
      }
      return child;
    };
    const test = await raiseTestCrew({ tiers: [32], mix: { probe: 1 }, workers: 8, startDeadlineSeconds: 60 }, { seams: { wrapWorker } });
    await allFlow(test);
    for (const worker of [0, 2, 4, 6]) process.kill(test.workerPid(worker), 'SIGKILL');
    await until(() => test.events.filter(({ type }) => type === 'worker-recovered').length === 4);
    assert.deepEqual(test.deaths.map(({ worker, cause }) => [worker, cause]).sort(), [
      [0, 'SIGKILL'],
      [2, 'SIGKILL'],
      [4, 'SIGKILL'],
      [6, 'SIGKILL'],
    ]);
    assert.ok(most <= 2, `${most} booted at once`);
    await allFlow(test);
    assert.deepEqual([test.crew.scan().live, test.crew.scan().quarantined], [32, 0]);
    await test.crew.stop(5000);
    assert.deepEqual(holdersOf(test.runId), []);
  });

  it('a crash loop ends with the env barred at its budget, and the worker goes on', WATCHDOG, async () => {
    // Goal: an env with a broken asset costs its worker a few lives and then itself.
    const schedule = [{ fault: 'segfault', atStep: 2, envIds: [3] }];
    const test = await raiseTestCrew({
      tiers: [8],
      mix: { fault: { share: 1, config: { kind: 'cartpole', schedule } } },
      health: { crashBudget: { restarts: 2 }, backoff: { baseSeconds: 0.01 } },
    });
    await until(() => test.crew.scan().quarantined === 1);
    assert.deepEqual(
      test.deaths.map(({ cause, last_env_id: env }) => [cause, env]),
      Array(3).fill(['SIGSEGV', 3]),
    );
    assert.equal(test.crew.health().failures[3], 3);
    await until(() =>
      test.events.some(({ type, detail }) => type === 'env-quarantined' && (detail?.envIds as number[] | undefined)?.includes(3) === true),
    );
    await allFlow(test);
    assert.equal(test.crew.scan().live, 7);
    await test.crew.stop(5000);
  });

  it('more restarts than the run may have end it, with the budget named', WATCHDOG, async () => {
    // Goal: a run that only restarts is not a run.
    const schedule = [{ fault: 'exit', on: 'reset' }];
    const test = await raiseTestCrew({
      tiers: [4],
      mix: { fault: { share: 1, config: { kind: 'cartpole', schedule } } },
      startDeadlineSeconds: 60,
      health: { crashBudget: { restarts: 100 }, runBudget: { restarts: 3 }, backoff: { baseSeconds: 0.01 } },
    });
    const error = await test.crew.failed;
    assert.ok(error instanceof EnvladderError && error.code === 'worker-died');
    assert.match(error.message, /more than 3 restarts.*runBudget/);
    assert.deepEqual(
      test.deaths.map(({ restarted }) => restarted),
      [true, true, true, false],
    );
    await test.crew.stop(2000);
    assert.deepEqual(holdersOf(test.runId), []);
  });

  it('waits longer before each further restart of a worker', WATCHDOG, async () => {
    // Goal: jittered back-off: the second restart waits, the first does not.
    const test = await raiseTestCrew(
      { tiers: [4], mix: { probe: 1 }, health: { backoff: { baseSeconds: 1.5 } } },
      { seams: { random: () => 0 } },
    );
    const away: number[] = [];
    for (let round = 0; round < 2; round++) {
      const before = test.events.filter(({ type }) => type === 'worker-recovered').length;
      process.kill(test.workerPid(0), 'SIGKILL');
      await until(() => test.events.filter(({ type }) => type === 'worker-recovered').length > before);
      away.push(test.event('worker-recovered')?.detail?.recover_ms as number);
    }
    assert.ok((away[1] as number) >= 750, `half of base: ${away}`);
    await test.crew.stop(5000);
  });

  it('a stop in the middle of recoveries leaves nothing behind', WATCHDOG, async () => {
    // Goal: Ctrl-C during a storm is a stop like any other.
    const test = await raiseTestCrew(
      { tiers: [16], mix: { probe: 1 }, workers: 4, health: { backoff: { baseSeconds: 20 } } },
      { seams: { random: () => 0 } },
    );
    await allFlow(test);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('worker-recovered') !== undefined);
    process.kill(test.workerPid(0), 'SIGKILL');
    process.kill(test.workerPid(1), 'SIGKILL');
    process.kill(test.learnerPid(), 'SIGKILL');
    await until(() => test.deaths.length >= 4);
    const end = await test.crew.stop(8000);
    assert.notEqual(end.snapshot, null, 'the next learner settled the books');
    assert.equal(end.snapshot?.taken, end.scan.taken);
    assert.deepEqual(end.killed, []);
    assert.deepEqual(holdersOf(test.runId), []);
  });
});

describe('seats that are threads', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('a spin in one costs its own envs a moment, and no other seat of its host', WATCHDOG, async () => {
    // Goal: thread isolation: what blocks takes only its own pack along.
    const schedule = [{ fault: 'spin', atStep: 3, envIds: [1], onlyEpoch: 0 }];
    const thread = { kind: 'fault', share: 1, isolation: 'thread' as const, pack: 4, config: { kind: 'cartpole', schedule } };
    const test = await raiseTestCrew({ tiers: [12], mix: { thread }, workers: 1, stepDeadlineSeconds: 0.5 });
    await until(() => test.event('worker-recovered') !== undefined);
    assert.deepEqual(
      test.deaths.map(({ worker, cause, last_env_id: env }) => [worker, cause, env]),
      [[0, 'deadline', 1]],
    );
    await allFlow(test);
    assert.equal(test.crew.scan().live, 12);
    assert.equal(test.crew.restarts, 1);
    const answer = await test.crew.obey({ id: 'x', command: 'replace-worker', worker: 1 });
    assert.equal(answer.ok, true, answer.message);
    await allFlow(test);
    await test.crew.stop(5000);
    assert.deepEqual(holdersOf(test.runId), []);
  });

  it('the death of the host takes its seats down and all come back', WATCHDOG, async () => {
    // Goal: what crashes in a thread is told for each seat, and costs no env its place.
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: { share: 1, isolation: 'thread', pack: 4 } }, workers: 1 });
    await allFlow(test);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.events.filter(({ type }) => type === 'worker-recovered').length === 2);
    assert.deepEqual(test.deaths.map(({ worker }) => worker).sort(), [0, 1]);
    assert.match(test.deaths[0]?.cause ?? '', /SIGKILL/);
    await allFlow(test);
    assert.equal(test.crew.scan().quarantined, 0);
    await test.crew.stop(5000);
    assert.deepEqual(holdersOf(test.runId), []);
  });
});
