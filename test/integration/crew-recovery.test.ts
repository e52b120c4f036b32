// Recovery in a real crew: what is suspected and cleared, what is replaced, what gets fresh memory, and a learner that comes back.
import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import type { FromWorker } from '../../harness/contract/messages.js';
import type { CrewEnd } from '../../harness/supervisor/crew.js';
import type { WorkerChild } from '../../harness/supervisor/crew-ports.js';
import { holdersOf, isRunning, raiseTestCrew, stopAllCrews, type TestCrew, until } from '../fixtures/test-crew.js';

const WATCHDOG = { timeout: 60_000 };

async function flows(test: TestCrew, frames = 1000): Promise<void> {
  const before = test.crew.scan().published;
  await until(() => test.crew.scan().published >= before + frames);
}

/** Frames of every env since now: each must make some. */
async function allFlow(test: TestCrew): Promise<void> {
  const before = Float64Array.from(test.crew.envFrames());
  await until(() => test.crew.envFrames().every((frames, env) => Number.isNaN(frames) || frames > (before[env] as number)));
}

function assertBalanced(end: CrewEnd): void {
  const { snapshot, scan } = end;
  assert.ok(snapshot !== null);
  assert.deepEqual([snapshot.torn, snapshot.outOfOrder], [0, 0]);
  assert.equal(snapshot.taken, scan.taken, 'the learner took what the control words say it took');
  assert.equal(snapshot.taken, snapshot.evaluated + Object.values(snapshot.dropped).reduce((sum, count) => sum + count, 0));
}

async function stopAndCheck(test: TestCrew): Promise<CrewEnd> {
  const end = await test.crew.stop(5000);
  assert.deepEqual(holdersOf(test.runId), []);
  assertBalanced(end);
  return end;
}

/** A zombie is not to be killed by its cgroup either. */
const NO_CGROUPS = { seat: () => null, degraded: null, folder: null, close: () => undefined };

/** Worker children whose SIGKILL is withheld, by worker: they stay what they are. */
function withholdKill(worker: number): { readonly wrap: (child: WorkerChild, of: number) => WorkerChild; readonly held: WorkerChild[] } {
  const held: WorkerChild[] = [];
  const wrap = (child: WorkerChild, of: number): WorkerChild => {
    if (of !== worker || held.length > 0) return child;
    held.push(child);
    return Object.create(child, {
      kill: { value: (signal: NodeJS.Signals) => (signal === 'SIGKILL' ? undefined : child.kill(signal)) },
    }) as WorkerChild;
  };
  return { wrap, held };
}

/** As a stray write of an env would: over the magic number. */
function damage(segmentFd: number): void {
  const fd = openSync(`/proc/self/fd/${segmentFd}`, 'r+');
  writeSync(fd, Buffer.alloc(8, 0x5a), 0, 8, 0);
  closeSync(fd);
}

/** Long enough for a command between the second death and the life after it. */
const SLOW_RETURN = { backoff: { baseSeconds: 1.5 } };

async function diesTwice(test: TestCrew, who: 'worker' | 'learner', pid: () => number): Promise<void> {
  const deaths = () => test.deaths.filter(({ role }) => role === who).length;
  process.kill(pid(), 'SIGKILL');
  await until(() => deaths() === 1 && test.event(`${who}-restarted`) !== undefined);
  await allFlow(test);
  process.kill(pid(), 'SIGKILL');
  await until(() => deaths() === 2);
}

describe('suspicion', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('a worker stopped for a while is suspected, then cleared, and not killed, whatever its step deadline', WATCHDOG, async () => {
    // Goal: a pause below frozenSeconds costs nothing, although the env in work was in its step for longer than its deadline.
    const test = await raiseTestCrew({ tiers: [16], mix: { cartpole: 1 }, workers: 2, stepDeadlineSeconds: 1 });
    await flows(test);
    const pid = test.workerPid(0);
    process.kill(pid, 'SIGSTOP');
    const verdict = () => test.crew.health().workers[0]?.verdict;
    await until(() => verdict() === 'suspect');
    await until(() => test.event('worker-suspect') !== undefined);
    await until(() => (test.crew.health().workers[0]?.nativeAgeMs ?? 0) > 3000);
    process.kill(pid, 'SIGCONT');
    await until(() => test.event('worker-cleared') !== undefined);
    await allFlow(test);
    assert.equal(test.workerPid(0), pid);
    assert.deepEqual([test.deaths.length, test.crew.restarts], [0, 0]);
    await stopAndCheck(test);
  });

  it('many workers stopped at once suspend killing; it is said, and resumes when they are back', WATCHDOG, async () => {
    // Goal: a machine that pauses kills nobody.
    const test = await raiseTestCrew({ tiers: [32], mix: { cartpole: 1 }, workers: 4, health: { frozenSeconds: 1 } });
    await flows(test);
    const pids = [0, 1, 2].map((worker) => test.workerPid(worker));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await until(() => test.event('kills-suspended') !== undefined);
    assert.match(test.crew.health().suspended ?? '', /of 4 workers are late/);
    await until(() => pids.every((_, worker) => (test.crew.health().workers[worker]?.nativeAgeMs ?? 0) > 2500));
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await until(() => test.event('kills-resumed') !== undefined);
    await allFlow(test);
    assert.equal(test.deaths.length, 0);
    await stopAndCheck(test);
  });

  it('an event loop that is blocked outside of any env is found by its stamp and the worker replaced', WATCHDOG, async () => {
    // Goal: blocked is told from stopped: the native stamp is fresh, the loop stamp is not.
    const test = await raiseTestCrew(
      { tiers: [4], mix: { blocker: 1 }, health: { blockedSeconds: 1 } },
      { module: new URL('../fixtures/blocker-kind.ts', import.meta.url).pathname },
    );
    await until(() => test.deaths.length > 0);
    assert.deepEqual([test.deaths[0]?.cause, test.deaths[0]?.restarted], ['blocked', true]);
    await until(() => test.event('worker-recovered') !== undefined);
    assert.equal(test.crew.scan().quarantined, 0, 'no env is charged for it');
    await stopAndCheck(test);
  });
});

describe('hangs', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it(
    'a step beyond the deadline of its mix entry is found and told with env, operation and the time it took to notice',
    WATCHDOG,
    async () => {
      // Goal: deadlines are those of the entry, and the event says how late the supervisor was.
      const spin = {
        kind: 'fault',
        share: 0.5,
        deadlines: { step: 0.4 },
        config: { kind: 'cartpole', schedule: [{ fault: 'spin', atStep: 3, envIds: [9], onlyEpoch: 0 }] },
      };
      const test = await raiseTestCrew({ tiers: [16], mix: { cartpole: 0.5, spin }, workers: 1, stepDeadlineSeconds: 60 });
      await until(() => test.event('worker-recovered') !== undefined);
      const died = test.event('worker-died');
      assert.deepEqual([died?.envId, died?.detail?.cause, died?.detail?.operation, died?.detail?.limit_ms], [9, 'deadline', 'step', 400]);
      assert.ok((died?.detail?.detect_ms as number) >= 400);
      assert.equal(test.crew.health().deadlinesMissed.step, 1);
      assert.equal(test.crew.health().failures[9], 1);
      assert.equal(test.crew.scan().quarantined, 0, 'one crash is within its budget');
      const recovered = test.event('worker-recovered');
      assert.ok((recovered?.detail?.recover_ms as number) > 0);
      await allFlow(test);
      await stopAndCheck(test);
    },
  );
});

describe('deaths that cannot be confirmed', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it(
    'a worker that survives SIGKILL keeps its memory; its range goes on in fresh memory, and the zombie publishes nothing',
    WATCHDOG,
    async () => {
      // Goal: a zombie writer can never tear a frame: it writes where nobody reads, and its publish fails.
      const zombie = withholdKill(0);
      const test = await raiseTestCrew(
        { tiers: [16], mix: { probe: 1 }, workers: 2, health: { frozenSeconds: 0.5 } },
        { seams: { wrapWorker: zombie.wrap, confirmMs: 500, cgroups: NO_CGROUPS } },
      );
      await flows(test);
      const pid = test.workerPid(0);
      const before = test.segments.length;
      process.kill(pid, 'SIGSTOP');
      await until(() => test.event('worker-recovered') !== undefined);
      assert.equal(test.segments.length, before + 1, 'the seat has fresh memory');
      const died = test.event('worker-died');
      assert.deepEqual([died?.detail?.cause, died?.detail?.confirmed], ['frozen', false]);
      assert.ok(isRunning(pid), 'the zombie is still there');
      await allFlow(test);
      process.kill(pid, 'SIGCONT');
      await until(() => !isRunning(pid));
      await zombie.held[0]?.exit;
      await allFlow(test);
      assert.equal(test.deaths.length, 1, 'its later end is no second death');
      const end = await stopAndCheck(test);
      assert.equal(end.scan.live, 16);
    },
  );

  it('a seat whose groups still sleep gets fresh memory for all of them, and they wake in it', WATCHDOG, async () => {
    // Goal: memory that was given and not used yet moves along.
    const test = await raiseTestCrew(
      { tiers: [16], mix: { probe: 1 }, workers: 2, groups: { start: 'groups', size: 4, wakeSteps: 2000 } },
      { grow: false },
    );
    const growing = test.crew.growTo(0);
    await until(() => test.crew.scan().live > 0);
    const [segment] = test.segments;
    assert.ok(segment !== undefined);
    assert.ok(test.crew.scan().live < 16, 'some groups sleep');
    damage(segment.fd);
    await until(() => test.event('worker-recovered') !== undefined);
    const start = await growing;
    assert.ok(start.timeToAllLiveS !== null);
    const end = await stopAndCheck(test);
    assert.equal(end.scan.live, 16);
  });

  it('a segment whose header is damaged is fenced and replaced', WATCHDOG, async () => {
    // Goal: a stray write into shared memory costs one range its open trajectories.
    const test = await raiseTestCrew({ tiers: [16], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    const [segment] = test.segments;
    assert.ok(segment !== undefined);
    damage(segment.fd);
    await until(() => test.event('worker-recovered') !== undefined);
    assert.deepEqual(
      test.deaths.map(({ worker, cause }) => [worker, cause]),
      [[0, 'its memory is damaged']],
    );
    assert.match(test.event('alarm')?.message ?? '', /worker 0 is damaged/);
    await allFlow(test);
    const end = await stopAndCheck(test);
    assert.equal(end.scan.live, 16);
  });
});

describe('a crash that damages its memory', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('costs the range its life and its memory, not the run, though nobody has looked in between', WATCHDOG, async () => {
    // Goal: a stray write and the crash that follows it within the same second are the likeliest pair; the next life must not meet the damage.
    const test = await raiseTestCrew({ tiers: [16], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    damage(test.segments[0]?.fd ?? -1);
    process.kill(test.workerPid(0), 'SIGSEGV');
    await until(() => test.event('worker-recovered') !== undefined);
    assert.deepEqual(
      test.deaths.map(({ worker, restarted }) => [worker, restarted]),
      [[0, true]],
    );
    assert.match(test.event('alarm')?.message ?? '', /worker 0 is damaged/);
    await allFlow(test);
    const end = await stopAndCheck(test);
    assert.equal(end.scan.live, 16);
  });
});

describe('planned replacement', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('hands the range to a new process, loses no frame, charges nothing', WATCHDOG, async () => {
    // Goal: new code under load costs the open trajectories and a moment.
    const test = await raiseTestCrew({ tiers: [32], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    const pids = [test.workerPid(0)];
    for (let round = 1; round <= 3; round++) {
      const answer = await test.crew.obey({ id: `r${round}`, command: 'replace-worker', worker: 0 });
      assert.equal(answer.ok, true, answer.message);
      pids.push(test.workerPid(0));
      await allFlow(test);
    }
    assert.equal(new Set(pids).size, 4);
    assert.ok(pids.slice(0, 3).every((pid) => !isRunning(pid)));
    assert.equal(test.event('worker-replaced')?.detail?.epoch, 3);
    assert.deepEqual([test.deaths.length, test.crew.restarts, test.crew.health().workers[0]?.budgetLeft], [0, 0, 10]);
    assert.deepEqual(
      test.events.filter(({ type }) => type === 'worker-stopped'),
      [],
    );
    const end = await stopAndCheck(test);
    assert.equal(end.scan.live, 32);
  });

  it('leaves the old process at work when the new one does not get ready, and refuses what is not there', WATCHDOG, async () => {
    // Goal: bad new code is found out before the good old one is gone.
    let lives = 0;
    const wrapWorker = (child: WorkerChild): WorkerChild => {
      if (lives++ === 1) child.kill('SIGKILL');
      return child;
    };
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 1 }, { seams: { wrapWorker } });
    const pid = test.workerPid(0);
    const answer = await test.crew.obey({ id: '1', command: 'replace-worker', worker: 0 });
    assert.equal(answer.ok, false);
    assert.match(answer.message, /did not get ready/);
    assert.match((await test.crew.obey({ id: '2', command: 'replace-worker', worker: 7 })).message, /there is no worker 7/);
    await allFlow(test);
    assert.deepEqual([test.workerPid(0), test.deaths.length], [pid, 0]);
    await stopAndCheck(test);
  });
});

describe('a release while a replacement boots', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('holds for the new process, which was started with the env out', WATCHDOG, async () => {
    // Goal: what was answered before the hand-over is true after it.
    let lives = 0;
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    /** The second life says that it is ready only when told to. */
    const wrapWorker = (child: WorkerChild): WorkerChild => {
      if (lives++ !== 1) return child;
      const onMessage: WorkerChild['channel']['onMessage'] = (listener) =>
        child.channel.onMessage((message) => void (message.type === 'ready' ? held.then(() => listener(message)) : listener(message)));
      // Getters of the channel must stay live.
      const channel = Object.create(child.channel, { onMessage: { value: onMessage } }) as WorkerChild['channel'];
      return Object.create(child, { channel: { value: channel } }) as WorkerChild;
    };
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 1 }, { seams: { wrapWorker } });
    await flows(test);
    await test.crew.obey({ id: 'a', command: 'quarantine', envId: 2 });
    await until(() => test.crew.scan().quarantined === 1);
    const replaced = test.crew.obey({ id: 'b', command: 'replace-worker', worker: 0 });
    await until(() => lives === 2);
    assert.equal((await test.crew.obey({ id: 'c', command: 'release', envId: 2 })).ok, true);
    await until(() => test.crew.scan().quarantined === 0);
    letGo();
    assert.equal((await replaced).ok, true);
    await allFlow(test);
    assert.equal(test.crew.scan().quarantined, 0);
    assert.equal(Number.isNaN(test.crew.envFrames()[2]), false);
    await stopAndCheck(test);
  });
});

describe('messages of a life that is over', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('are not heard: no event, no count, no answer comes of them', WATCHDOG, async () => {
    // Goal: what a dead epoch says late is not held against the living one.
    const heard: ((message: FromWorker) => void)[] = [];
    const wrapWorker = (child: WorkerChild): WorkerChild => {
      const onMessage: WorkerChild['channel']['onMessage'] = (listener) => {
        heard.push(listener);
        child.channel.onMessage(listener);
      };
      // Getters of the channel must stay live.
      const channel = Object.create(child.channel, { onMessage: { value: onMessage } }) as WorkerChild['channel'];
      return Object.create(child, { channel: { value: channel } }) as WorkerChild;
    };
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 1 }, { seams: { wrapWorker } });
    await flows(test);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.event('worker-recovered') !== undefined);
    const failure = { envId: 3, entry: 'probe', code: 'env-failed', operation: 'step', message: 'late', fate: 'quarantine' } as const;
    const late: FromWorker = { type: 'env-failures', failures: [failure], also: { rebuild: [], 'cool-down': [], quarantine: [] } };
    const told = () => test.events.filter(({ type }) => type === 'env-failed').length;
    const failures = () => test.crew.health().failures.reduce((sum, count) => sum + count, 0);
    assert.equal(heard.length, 2);
    heard[0]?.(late);
    heard[0]?.({ type: 'ready', pid: 1 });
    heard[0]?.({ type: 'stopped', frames: 1 });
    await allFlow(test);
    assert.deepEqual([told(), failures(), test.event('worker-stopped')], [0, 0, undefined]);
    heard[1]?.(late);
    await until(() => told() === 1);
    assert.equal(failures(), 1, 'the living one is heard');
    await stopAndCheck(test);
  });
});

describe('commands', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('take an env out and in again, and say what is', WATCHDOG, async () => {
    // Goal: a person can take one env out of a running run and put it back.
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    assert.deepEqual(await test.crew.obey({ id: 'a', command: 'quarantine', envId: 5 }).then(({ id, ok }) => [id, ok]), ['a', true]);
    await until(() => test.crew.scan().quarantined === 1);
    assert.ok(Number.isNaN(test.crew.envFrames()[5]));
    assert.equal((await test.crew.obey({ id: 'b', command: 'release', envId: 5 })).ok, true);
    await until(() => test.crew.scan().quarantined === 0);
    await allFlow(test);
    await until(() => test.event('env-released') !== undefined);
    assert.equal((await test.crew.obey({ id: 'c', command: 'release', envId: 99 })).ok, false);
    const again = await test.crew.obey({ id: 'c2', command: 'release', envId: 5 });
    assert.deepEqual([again.ok, again.message], [true, 'env 5 is in the run: there is nothing to release']);
    const status = await test.crew.obey({ id: 'd', command: 'status' });
    assert.match(status.message, /2 of 2 workers are well/);
    assert.match((await test.crew.obey({ id: 'e', command: 'checkpoint' })).message, /writes no checkpoints/);
    await stopAndCheck(test);
    assert.equal((await test.crew.obey({ id: 'f', command: 'replace-worker', worker: 0 })).ok, false);
  });
});

describe('commands about an env', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('while its worker is between two lives are obeyed by the next one, also when that boots already', WATCHDOG, async () => {
    // Goal: what was answered "with the next life" is what the next life does.
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 2, health: SLOW_RETURN });
    await flows(test);
    await test.crew.obey({ id: 'a', command: 'quarantine', envId: 1 });
    await until(() => test.crew.scan().quarantined === 1);
    await diesTwice(test, 'worker', () => test.workerPid(0));
    for (const [id, command, envId] of [
      ['b', 'release', 1],
      ['c', 'quarantine', 2],
    ] as const)
      assert.match((await test.crew.obey({ id, command, envId })).message, /with the next life of worker 0/);
    await until(() => Number.isNaN(test.crew.envFrames()[2]) && (test.crew.envFrames()[1] ?? Number.NaN) > 0);
    await allFlow(test);
    process.kill(test.workerPid(0), 'SIGKILL');
    await until(() => test.deaths.length === 3 && test.crew.health().workers[0]?.verdict === 'starting');
    await test.crew.obey({ id: 'd', command: 'release', envId: 2 });
    await test.crew.obey({ id: 'e', command: 'quarantine', envId: 3 });
    await until(() => Number.isNaN(test.crew.envFrames()[3]) && (test.crew.envFrames()[2] ?? Number.NaN) > 0);
    await stopAndCheck(test);
  });

  it('while the learner is between two lives reach the next one', WATCHDOG, async () => {
    // Goal: a released env is read again, whoever was away when it was released.
    const test = await raiseTestCrew({ tiers: [8], mix: { probe: 1 }, workers: 2, health: SLOW_RETURN });
    await flows(test);
    await until(() => test.stats.length > 0);
    await test.crew.obey({ id: 'a', command: 'quarantine', envId: 1 });
    await until(() => test.crew.scan().quarantined === 1);
    await diesTwice(test, 'learner', test.learnerPid);
    assert.equal((await test.crew.obey({ id: 'b', command: 'release', envId: 1 })).ok, true);
    await until(() => (test.crew.envFrames()[1] ?? Number.NaN) > 0);
    await allFlow(test);
    await stopAndCheck(test);
  });
});

describe('a learner that dies', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('comes back, counts on, answers what was asked, and the workers wait for it', WATCHDOG, async () => {
    // Goal: kill -9 of the learner costs the frames it had not told about, and the sums say how many.
    const test = await raiseTestCrew({ tiers: [32], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    await until(() => test.stats.length > 0);
    const pid = test.learnerPid();
    process.kill(pid, 'SIGSTOP');
    const asked = test.crew.snapshot();
    process.kill(pid, 'SIGKILL');
    const snapshot = await asked;
    await until(() => test.event('learner-restarted') !== undefined);
    assert.notEqual(test.learnerPid(), pid);
    assert.ok(snapshot.taken >= (test.stats[0]?.taken ?? 0), 'counts never fall');
    await allFlow(test);
    assert.deepEqual(
      test.deaths.map(({ role, cause, restarted }) => [role, cause, restarted]),
      [['learner', 'SIGKILL', true]],
    );
    assert.ok((test.event('learner-restarted')?.detail?.recover_ms as number) >= 0);
    assert.equal(test.crew.health().learner.restarts, 1);
    const end = await stopAndCheck(test);
    assert.ok((end.snapshot?.dropped['learner-died'] ?? 0) > 0);
    assert.equal(end.scan.live, 32);
  });

  it('comes back while a tier is being started, and the tier starts', WATCHDOG, async () => {
    // Goal: what waits for the first batch of a tier hears of it from the next life.
    const test = await raiseTestCrew({ tiers: [16, 32], mix: { probe: 1 }, workers: 2 });
    await flows(test);
    process.kill(test.learnerPid(), 'SIGSTOP');
    const growing = test.crew.growTo(1);
    process.kill(test.learnerPid(), 'SIGKILL');
    const start = await growing;
    assert.ok(start.timeToAllLiveS !== null && start.timeToFirstBatchS !== null);
    await allFlow(test);
    await stopAndCheck(test);
  });
});
