import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { CrewEnd } from '../../harness/supervisor/crew.js';
import { holdersOf, isRunning, raiseTestCrew, stopAllCrews, type TestCrew, until, untilHung } from '../fixtures/test-crew.js';

const WATCHDOG = { timeout: 60_000 };
/** Of all tests below together, on a machine that does other things too. */
const SUITE = { timeout: 300_000 };

const ONE_RESTART = { workerBudget: { restarts: 1 } };
/** The first death that an env is to blame for is its last. */
const BARRED_AT_ONCE = { crashBudget: { restarts: 0 } };
/** A failed env is not built anew. */
const OUT_AT_ONCE = { envBudget: { restarts: 0 }, coolDowns: 0 };

/** A cartpole whose chosen envs break as `rule` says. */
function faulty(rule: Record<string, unknown>): { fault: { share: number; config: Record<string, unknown> } } {
  return { fault: { share: 1, config: { kind: 'cartpole', schedule: [rule] } } };
}

/** Sums that must hold at every stop, whatever happened before. */
function assertBalanced(end: CrewEnd): void {
  const { snapshot, scan } = end;
  assert.ok(snapshot !== null);
  assert.equal(snapshot.torn, 0);
  assert.equal(snapshot.outOfOrder, 0);
  assert.equal(snapshot.taken, scan.taken, 'the learner took what the control words say it took');
  const inFlight = scan.published - scan.taken;
  assert.ok(inFlight >= 0 && inFlight <= scan.live + scan.quarantined, `at most one frame per env is in flight, found ${inFlight}`);
  const lost = Object.values(snapshot.dropped).reduce((sum, count) => sum + count, 0);
  assert.equal(snapshot.taken, snapshot.evaluated + lost);
}

async function flows(test: TestCrew, frames = 1000): Promise<void> {
  const before = test.crew.scan().published;
  await until(() => test.crew.scan().published >= before + frames);
}

async function stopAndCheck(test: TestCrew): Promise<CrewEnd> {
  const end = await test.crew.stop(5000);
  assert.deepEqual(holdersOf(test.runId), []);
  return end;
}

describe('deaths in a crew', SUITE, () => {
  afterEach(stopAllCrews);

  it('a worker killed from outside is reported, restarted with epoch 1, and its frames flow again', WATCHDOG, async () => {
    // Goal: kill -9 of a worker costs its envs their trajectories and nothing else.
    const test = await raiseTestCrew({ tiers: [64], mix: { cartpole: 1 }, workers: 2 });
    await flows(test);
    const pid = test.workerPid(1);
    process.kill(pid, 'SIGKILL');
    await until(() => test.event('worker-restarted') !== undefined);
    const [death] = test.deaths;
    assert.equal(test.deaths.length, 1);
    assert.equal(death?.role, 'worker');
    assert.equal(death?.worker, 1);
    assert.equal(death?.pid, pid);
    assert.equal(death?.cause, 'SIGKILL');
    assert.equal(death?.restarted, true);
    assert.ok(['idle', 'step', 'reset'].includes(death?.last_operation ?? ''));
    const { firstEnvId } = test.event('worker-died')?.detail ?? {};
    if (death?.last_operation !== 'idle') assert.ok((death?.last_env_id ?? Number(firstEnvId)) >= 32, 'worker 1 owns env 32 to 63');
    assert.equal(test.crew.restarts, 1);
    assert.deepEqual(
      test.crew.health().workers.map(({ budgetLeft }) => budgetLeft),
      [10, 9],
      'one death costs one restart',
    );
    assert.equal(test.event('worker-restarted')?.detail?.epoch, 1);
    // Every env of the dead worker steps again, except one that may have been in work when it died.
    await until(() => test.events.filter(({ type }) => type === 'env-created').length === 3);
    await flows(test, 5000);
    const end = await stopAndCheck(test);
    assertBalanced(end);
    assert.ok((end.snapshot?.dropped.abandoned ?? 0) >= 31, 'each lost trajectory is marked abandoned');
    assert.ok(end.scan.live >= 63);
    assert.deepEqual(end.killed, []);
  });

  for (const [fault, cause] of [
    ['exit', 'exit code 7'],
    ['segfault', 'SIGSEGV'],
  ] as const) {
    it(`an env that takes its process down by ${fault} is named and stays out; the others come back`, WATCHDOG, async () => {
      // Goal: the death names worker, env, operation and cause, and the next life does not die of the same env.
      const test = await raiseTestCrew({
        tiers: [24],
        mix: faulty({ fault, atStep: 5, envIds: [17] }),
        workers: 2,
        health: BARRED_AT_ONCE,
      });
      await until(() => test.event('worker-restarted') !== undefined);
      const [death] = test.deaths;
      assert.deepEqual(
        [death?.worker, death?.last_env_id, death?.last_operation, death?.cause, death?.restarted],
        [1, 17, 'step', cause, true],
      );
      await until(() => test.crew.scan().quarantined === 1);
      await flows(test);
      const failure = (): string =>
        test.events.find(({ type, envId, message }) => type === 'env-failed' && envId === 17 && /worker died/.test(message))?.message ?? '';
      await until(() => failure() !== '');
      assert.match(failure(), /its worker died while it was in work/);
      const end = await stopAndCheck(test);
      assertBalanced(end);
      assert.equal(end.scan.live, 23);
      assert.equal(test.deaths.length, 1);
    });
  }

  it('an env that spins for ever is killed at the step deadline and named', WATCHDOG, async () => {
    // Goal: a hung step does not hang the run.
    const test = await raiseTestCrew({
      tiers: [16],
      mix: faulty({ fault: 'spin', atStep: 3, envIds: [4] }),
      workers: 2,
      stepDeadlineSeconds: 0.5,
      health: BARRED_AT_ONCE,
    });
    await until(() => test.event('worker-restarted') !== undefined);
    const [death] = test.deaths;
    assert.deepEqual([death?.worker, death?.last_env_id, death?.last_operation, death?.cause], [0, 4, 'step', 'deadline']);
    await until(() => test.crew.scan().quarantined === 1);
    await flows(test);
    const end = await stopAndCheck(test);
    assertBalanced(end);
    assert.equal(end.scan.live, 15);
  });

  it(
    'a run of stepMany that never returns is held against none of its envs; the next life steps one by one and names the one',
    WATCHDOG,
    async () => {
      // Goal: no env pays for its neighbour, and a repeat finds the culprit.
      const test = await raiseTestCrew(
        { tiers: [16], mix: { 'range-spinner': 1 }, stepDeadlineSeconds: 0.5, health: BARRED_AT_ONCE },
        { module: new URL('../fixtures/range-spinner-kind.ts', import.meta.url).pathname },
      );
      await until(() => test.deaths.length === 2);
      const [first, second] = test.deaths;
      assert.deepEqual([first?.cause, first?.last_operation, first?.last_env_id, first?.restarted], ['deadline', 'step', null, true]);
      const told = test.events.find(({ type }) => type === 'worker-died');
      const { firstEnvId, envs } = told?.detail ?? {};
      assert.ok(Number(firstEnvId) <= 9 && Number(firstEnvId) + Number(envs) > 9, told?.message);
      assert.match(told?.message ?? '', /last operation step of one of envs \d+ to \d+/);
      assert.deepEqual([second?.cause, second?.last_operation, second?.last_env_id], ['deadline', 'step', 9]);
      await until(() => test.crew.scan().quarantined === 1);
      await flows(test);
      const end = await stopAndCheck(test);
      assertBalanced(end);
      assert.equal(end.scan.live, 15);
    },
  );

  it('a stopped worker process is killed once its native stamp stands still for frozenSeconds', WATCHDOG, async () => {
    // Goal: SIGSTOP cannot freeze the run; SIGKILL works on a stopped process.
    const test = await raiseTestCrew({ tiers: [16], mix: { cartpole: 1 }, workers: 2, health: { frozenSeconds: 0.5 } });
    await flows(test);
    process.kill(test.workerPid(0), 'SIGSTOP');
    await until(() => test.event('worker-restarted') !== undefined);
    assert.equal(test.deaths[0]?.cause, 'frozen');
    assert.equal(test.crew.scan().quarantined, 0, 'the env in work at that moment is not to blame');
    assert.equal(test.deaths[0]?.worker, 0);
    await flows(test);
    assertBalanced(await stopAndCheck(test));
  });

  it('an env that throws is quarantined alone, no process dies', WATCHDOG, async () => {
    // Goal: one env's exception is that env's matter.
    const test = await raiseTestCrew({
      tiers: [16],
      mix: faulty({ fault: 'throw', atStep: 2, envIds: [3, 11] }),
      workers: 2,
      health: OUT_AT_ONCE,
    });
    await until(() => test.crew.scan().quarantined === 2);
    await flows(test);
    const end = await stopAndCheck(test);
    // The second failure may have waited for its turn (one message per 100 ms); a stop sends what is left.
    const failed = test.events.filter(({ type }) => type === 'env-failed').map(({ envId }) => envId);
    assert.deepEqual(failed.sort(), [11, 3]);
    assertBalanced(end);
    assert.deepEqual([end.scan.live, end.scan.quarantined, test.deaths.length], [14, 2, 0]);
  });

  it('thousands of failing envs arrive as a few messages and do not stop the start', WATCHDOG, async () => {
    // Goal: a kind that is broken everywhere cannot flood the supervisor.
    const test = await raiseTestCrew({ tiers: [2000], mix: faulty({ fault: 'throw', on: 'reset' }), health: OUT_AT_ONCE });
    await until(() => test.crew.scan().quarantined === 2000);
    await until(() => {
      const told = test.events.filter(({ type }) => type === 'env-quarantined').flatMap(({ detail }) => detail?.envIds as number[]);
      return new Set(told).size === 2000;
    });
    assert.ok(test.events.length < 1500, `${test.events.length} events for 2,000 failures`);
    assertBalanced(await stopAndCheck(test));
  });

  it('a death beyond the budget of a worker gives its range up; the run goes on with the others and says so', WATCHDOG, async () => {
    // Goal: restart within the budget, then go on smaller.
    const test = await raiseTestCrew({ tiers: [32], mix: { cartpole: 1 }, workers: 2, health: ONE_RESTART });
    await flows(test);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('worker-restarted') !== undefined);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('range-lost') !== undefined);
    assert.deepEqual(
      test.deaths.map(({ worker, restarted }) => [worker, restarted]),
      [
        [0, true],
        [0, false],
      ],
    );
    assert.equal(test.event('range-lost')?.detail?.envs, 16);
    const [lost] = test.segments;
    const left = (): number =>
      (lost?.spec.blocks ?? []).reduce((sum, { id }) => sum + (lost?.scan(id).published ?? 0) - (lost?.scan(id).taken ?? 0), 0);
    await until(() => left() === 0);
    await until(() => test.events.some(({ message }) => message === `dropped block ${lost?.spec.blocks[0]?.id} of worker 0`));
    await flows(test);
    assert.ok(test.crew.scan().live <= 16);
    assertBalanced(await stopAndCheck(test));
  });

  it('the crew fails with worker-died once every worker is lost', WATCHDOG, async () => {
    // Goal: a run without envs ends with its reason.
    const test = await raiseTestCrew({ tiers: [8], mix: { cartpole: 1 }, health: ONE_RESTART });
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('worker-restarted') !== undefined);
    process.kill(test.workerPid(0), 'SIGKILL');
    const error = await test.crew.failed;
    assert.ok(error instanceof EnvladderError && error.code === 'worker-died');
    assertBalanced(await stopAndCheck(test));
  });

  it('a death of the learner beyond its budget fails the crew, is reported, and leaves nothing behind', WATCHDOG, async () => {
    // Goal: a learner that may not be restarted ends the run with its reason; no worker survives it.
    const test = await raiseTestCrew({ tiers: [32], mix: { cartpole: 1 }, workers: 2, health: { learnerBudget: { restarts: 0 } } });
    await flows(test);
    const workers = [test.workerPid(0), test.workerPid(1)];
    process.kill(test.learnerPid(), 'SIGKILL');
    const error = await test.crew.failed;
    assert.ok(error instanceof EnvladderError && error.code === 'learner-died');
    assert.deepEqual(
      test.deaths.map(({ role, cause }) => [role, cause]),
      [['learner', 'SIGKILL']],
    );
    await assert.rejects(test.crew.snapshot(), { code: 'learner-died' });
    await until(() => workers.every((pid) => !isRunning(pid)));
    const end = await stopAndCheck(test);
    assert.equal(end.snapshot, null);
    assert.ok(end.scan.published >= end.scan.taken);
  });

  it('a hung step does not hang the stop', WATCHDOG, async () => {
    // Goal: stop ends within its drain whatever an env does, names who was killed, and leaves nothing behind.
    const test = await raiseTestCrew({ tiers: [16], mix: faulty({ fault: 'spin', atStep: 3, envIds: [4] }), stepDeadlineSeconds: 60 });
    await untilHung(test, 4);
    const end = await test.crew.stop(1000);
    assert.deepEqual(end.killed, ['worker 0']);
    assert.match(test.event('worker-died')?.message ?? '', /step of env 4/);
    assertBalanced(end);
    assert.deepEqual(holdersOf(test.runId), []);
  });

  it('a learner that does not stop in time is killed and stands among the deaths with its cause', WATCHDOG, async () => {
    // Goal: the counts and the checkpoint that are missing afterwards have a reason in the record.
    const test = await raiseTestCrew({ tiers: [16] });
    await flows(test);
    const pid = test.learnerPid();
    process.kill(pid, 'SIGSTOP');
    const end = await test.crew.stop(500);
    assert.deepEqual(end.killed, ['learner']);
    assert.equal(end.snapshot, null);
    assert.deepEqual(
      test.deaths.map(({ role, pid: of, cause, restarted }) => [role, of, cause, restarted]),
      [['learner', pid, 'it did not stop in time and was killed', false]],
    );
    assert.match(test.event('learner-died')?.message ?? '', /it did not stop in time and was killed/);
    assert.deepEqual(holdersOf(test.runId), []);
  });

  it('a second stop with a shorter drain brings the end forward', WATCHDOG, async () => {
    // Goal: Ctrl-C twice is faster and still clean.
    const test = await raiseTestCrew({ tiers: [16], mix: faulty({ fault: 'spin', atStep: 3, envIds: [4] }), stepDeadlineSeconds: 300 });
    await untilHung(test, 4);
    const slow = test.crew.stop(600_000);
    const [end] = await Promise.all([slow, test.crew.stop(300)]);
    assert.deepEqual(end.killed, ['worker 0']);
    assert.deepEqual(holdersOf(test.runId), []);
  });
});
