// The rules of recovery, without a process: how often, how soon, how many at once, who is to blame, and when nobody is killed.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkpointToResume } from '../../harness/supervisor/checkpoint-to-resume.js';
import { blameEnvs, deathCause } from '../../harness/supervisor/death-cause.js';
import { createEnvLedger } from '../../harness/supervisor/env-ledger.js';
import { createKillSuspension } from '../../harness/supervisor/kill-suspension.js';
import { createRecoveryClock } from '../../harness/supervisor/recovery-clock.js';
import { backoffMs, createRestartBudget } from '../../harness/supervisor/restart-budget.js';
import { decideRestart } from '../../harness/supervisor/restart-decision.js';
import { createRunBudget } from '../../harness/supervisor/run-budget.js';
import { createStartGate } from '../../harness/supervisor/start-gate.js';

describe('restart budget', () => {
  it('gives what it has within any window, and gets it back as time passes', () => {
    // Goal: a budget is a rate, not a life sentence.
    const budget = createRestartBudget({ restarts: 2, perSeconds: 10 });
    assert.deepEqual([budget.take(0), budget.take(5000), budget.take(9999)], [true, true, false]);
    assert.equal(budget.left(9999), 0);
    assert.equal(budget.take(10_000), true, 'the first is ten seconds old');
    assert.equal(budget.used(10_000), 2);
    assert.equal(createRestartBudget({ restarts: 0, perSeconds: 10 }).take(0), false);
  });

  it('property: no window ever holds more than the budget', () => {
    // Goal: I8, budgets respected.
    const steps = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 5 }), (waits, restarts) => {
        const budget = createRestartBudget({ restarts, perSeconds: 5 });
        const taken: number[] = [];
        let now = 0;
        for (const wait of waits) {
          now += wait;
          if (budget.take(now)) taken.push(now);
          assert.ok(taken.filter((at) => now - at < 5000).length <= restarts);
        }
      }),
    );
  });

  it('waits not at all before the first restart, then a random half to whole of a doubling time, up to the longest', () => {
    // Goal: many that died together do not come back together.
    const backoff = { baseSeconds: 0.2, maxSeconds: 30 };
    assert.equal(backoffMs(1, backoff, 0.9), 0);
    assert.deepEqual([backoffMs(2, backoff, 0), backoffMs(2, backoff, 1), backoffMs(4, backoff, 0)], [100, 200, 400]);
    assert.deepEqual([backoffMs(60, backoff, 0), backoffMs(1000, backoff, 1)], [15_000, 30_000]);
  });
});

describe('cause and blame', () => {
  it('tells the supervisor\u2019s own reason, a kill for memory, and what the kernel said apart', () => {
    // Goal: the record names the cause, not the means.
    assert.equal(deathCause({ cause: 'SIGKILL', signal: 'SIGKILL' }, 'deadline', 0), 'deadline');
    assert.equal(deathCause({ cause: 'SIGKILL', signal: 'SIGKILL' }, null, 1), 'oom');
    assert.equal(deathCause({ cause: 'SIGKILL', signal: 'SIGKILL' }, null, 0), 'SIGKILL');
    assert.equal(deathCause({ cause: 'exit code 3', signal: null }, null, 1), 'exit code 3', 'a grandchild was killed for memory');
  });

  it('charges the env in work for what an env can do, and for nothing else', () => {
    // Goal: a kill from outside does not cost an innocent env its place.
    const step = { envId: 5, op: 'step', span: 1 } as const;
    const charged = (cause: string, code: number | null = null) => blameEnvs(cause, code, step).charged;
    assert.deepEqual(
      ['deadline', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'].map((cause) => charged(cause)),
      Array(7).fill(5),
    );
    assert.equal(charged('exit code 7', 7), 5);
    assert.deepEqual(
      [70, 71, 72].map((code) => charged(`exit code ${code}`, code)),
      [null, null, null],
      'codes of our own',
    );
    assert.deepEqual(
      ['SIGKILL', 'SIGTERM', 'frozen', 'blocked', 'oom', 'heartbeat'].map((cause) => charged(cause)),
      Array(6).fill(null),
    );
    assert.equal(charged('blocked', 0), null);
    assert.equal(blameEnvs('SIGSEGV', null, { envId: 5, op: 'idle', span: 1 }).charged, null);
    assert.equal(blameEnvs('SIGSEGV', null, { envId: -1, op: 'construct', span: 1 }).charged, null);
  });

  it('charges no env of a run that was stepped at once, and suspects the run', () => {
    // Goal: one env of many may be to blame, and nobody knows which.
    const run = { envId: 5, op: 'step', span: 3 } as const;
    assert.deepEqual(blameEnvs('deadline', null, run), { charged: null, suspects: 5 });
    assert.deepEqual(blameEnvs('SIGSEGV', null, run), { charged: null, suspects: 5 });
    assert.deepEqual(blameEnvs('SIGKILL', null, run), { charged: null, suspects: null });
    assert.deepEqual(blameEnvs('deadline', null, { ...run, span: 1 }), { charged: 5, suspects: null });
  });
});

describe('restart decision', () => {
  const ONE = { restarts: 1, perSeconds: 10 };
  const life = { epoch: 1, fatal: null, isReady: true, killed: null, child: { pid: 7 } };

  it('takes one restart of the run for a thread host, however many seats fell with it', () => {
    // Goal: a pack of sixteen threads does not use up the budget of the run by one fall.
    const run = createRunBudget({ restarts: 2, perSeconds: 10 });
    const fall = (pid: number) =>
      decideRestart({ ...life, child: { pid } }, { cause: 'thread host: SIGSEGV' }, { own: createRestartBudget(ONE), run }, 0).restarted;
    assert.deepEqual([fall(7), fall(7), fall(7), fall(8), fall(8), fall(9)], [true, true, true, true, true, false]);
    assert.equal(decideRestart(life, { cause: 'SIGSEGV' }, { own: createRestartBudget(ONE), run }, 0).restarted, false, 'used up');
  });

  it('charges the worker itself, unless its host was killed for another thread', () => {
    // Goal: who only sat beside it does not pay.
    const own = createRestartBudget(ONE);
    const run = createRunBudget({ restarts: 9, perSeconds: 10 });
    const because = (cause: string, killed: typeof life.killed | { cause: string; judged: undefined } = null) =>
      decideRestart({ ...life, killed }, { cause }, { own, run }, 0).restarted;
    const another = 'its thread host was killed: thread 3 did not end within 1000 ms of its kill';
    assert.deepEqual([because(another), because(another), own.left(0)], [true, true, 1]);
    assert.deepEqual([because(another, { cause: 'deadline', judged: undefined }), own.left(0)], [true, 0]);
    assert.deepEqual([because('SIGKILL'), because(another)], [false, true]);
  });

  it('gives a first life up that never got ready, without charging anybody', () => {
    // Goal: what the user has to repair is said at once.
    const own = createRestartBudget(ONE);
    const run = createRunBudget(ONE);
    const decision = decideRestart({ ...life, epoch: 0, isReady: false }, { cause: 'exit code 1' }, { own, run }, 0);
    assert.deepEqual([decision, own.left(0)], [{ hopeless: true, mayTry: false, restarted: false }, 1]);
  });
});

describe('env ledger', () => {
  const health = { envBudget: { restarts: 5, perSeconds: 10 }, crashBudget: { restarts: 1, perSeconds: 60 } };
  const failure = (envId: number, fate: 'rebuild' | 'cool-down' | 'quarantine') =>
    ({ envId, entry: 'e', code: 'env-failed', operation: 'step', message: 'm', fate }) as const;
  const none = { rebuild: [], 'cool-down': [], quarantine: [] };

  it('bars an env at the death beyond its crash budget', () => {
    // Goal: one crash may be bad luck.
    const ledger = createEnvLedger(health);
    assert.deepEqual([ledger.crashed(3, 0), ledger.crashed(4, 0), ledger.crashed(3, 1000)], [false, false, true]);
    assert.deepEqual(ledger.forStart(1000).barred, [3]);
    ledger.release(3);
    assert.deepEqual([ledger.forStart(1000).barred, ledger.crashed(3, 1000)], [[], false], 'forgiven');
  });

  it('tells the next life who is out and how often each failed within the window', () => {
    // Goal: a dying worker does not renew the budgets of its envs.
    const ledger = createEnvLedger(health);
    ledger.failed(
      { type: 'env-failures', failures: [failure(1, 'rebuild'), failure(2, 'quarantine')], also: { ...none, 'cool-down': [7] } },
      0,
    );
    ledger.failed({ type: 'env-failures', failures: [failure(1, 'rebuild')], also: none }, 4000);
    assert.deepEqual(ledger.forStart(5000), {
      retired: [2],
      barred: [],
      failed: [
        [1, [0, 4000]],
        [7, [0]],
      ],
      slotBySlot: [],
    });
    assert.deepEqual(ledger.forStart(12_000).failed, [[1, [4000]]]);
    assert.deepEqual(ledger.forStart(60_000).failed, []);
    assert.equal(ledger.isOut(2), true);
    ledger.suspect(4);
    assert.deepEqual([ledger.forStart(60_000).slotBySlot, ledger.isOut(4)], [[4], false]);
  });

  it('keeps a person\u2019s word over lives, and hands it to the next life only while it is not published', () => {
    // Goal: quarantined by command stays so.
    const ledger = createEnvLedger(health);
    ledger.quarantine(8, false);
    assert.deepEqual([ledger.forStart(0).barred, ledger.forStart(0).retired], [[8], []]);
    ledger.quarantine(8, true);
    assert.deepEqual([ledger.forStart(0).barred, ledger.forStart(0).retired], [[], [8]]);
  });
});

describe('start gate', () => {
  it('lets a few in at a time, in the order in which they asked, and forgets who leaves the queue', () => {
    // Goal: a mass death is followed by a queue, not by a storm.
    const gate = createStartGate(2);
    const began: number[] = [];
    const leave = [0, 1, 2, 3, 4].map((seat) => gate.enter(() => began.push(seat)));
    assert.deepEqual([began, gate.waiting], [[0, 1], 3]);
    leave[3]?.();
    leave[0]?.();
    leave[0]?.();
    assert.deepEqual(began, [0, 1, 2]);
    leave[1]?.();
    assert.deepEqual([began, gate.waiting], [[0, 1, 2, 4], 0]);
  });
});

describe('suspension of killing', () => {
  it('begins above the share with two late at least, ends when it is calm, and says why meanwhile', () => {
    // Goal: one late worker of two is that worker; two of five are the machine.
    const suspension = createKillSuspension({ share: 0.2, limitSeconds: 100 });
    assert.equal(suspension.look(0, 1, 2), null);
    assert.equal(suspension.look(1, 2, 10), null, 'exactly the share');
    assert.equal(suspension.look(2, 3, 10), 'suspended');
    assert.match(suspension.reason ?? '', /3 of 10/);
    assert.equal(suspension.look(3, 5, 10), null);
    assert.equal(suspension.look(4, 1, 10), null, 'a calm look alone is no calm');
    assert.equal(suspension.look(900, 5, 10), null, 'late again: the same suspension');
    assert.equal(suspension.look(1000, 1, 10), null);
    assert.equal(suspension.look(1999, 1, 10), null);
    assert.equal(suspension.look(2000, 1, 10), 'resumed');
    assert.equal(suspension.reason, null);
  });

  it('lasts at most its limit, and needs a calm look before it may begin again', () => {
    // Goal: a broken run is not protected for ever.
    const suspension = createKillSuspension({ share: 0.2, limitSeconds: 10 });
    suspension.look(0, 5, 5);
    assert.equal(suspension.look(10_000, 5, 5), null);
    assert.equal(suspension.look(10_001, 5, 5), 'expired');
    assert.deepEqual([suspension.look(10_002, 5, 5), suspension.reason], [null, null]);
    assert.equal(suspension.look(10_003, 0, 5), null);
    assert.deepEqual([suspension.look(10_004, 5, 5), suspension.reason], [null, null], 'not calm for long enough');
    assert.equal(suspension.look(10_005, 0, 5), null);
    assert.equal(suspension.look(11_005, 0, 5), null);
    assert.equal(suspension.look(11_006, 5, 5), 'suspended');
  });
});

describe('recovery clock', () => {
  it('runs from the death that was noticed to the first frame of the next life, and tells it once', () => {
    // Goal: recovery ends with a valid publish, not with a process that is up.
    const told: unknown[] = [];
    const clock = createRecoveryClock(
      3,
      (event) => told.push(event.detail),
      () => true,
    );
    clock.look(50, { frames: 9, epoch: 0 }, 0, 1);
    clock.begin(1000, 'SIGKILL', 40);
    clock.look(1200, { frames: 9, epoch: 0 }, 1, 2);
    clock.look(1300, { frames: 0, epoch: 1 }, 1, 2);
    assert.deepEqual(told, []);
    clock.look(1450, { frames: 4, epoch: 1 }, 1, 2);
    clock.look(1460, { frames: 8, epoch: 1 }, 1, 2);
    assert.deepEqual(told, [{ cause: 'SIGKILL', epoch: 1, pid: 2, detect_ms: 40, recover_ms: 450 }]);
  });

  it('counts from the first of several deaths, and needs no frame of a seat without envs', () => {
    // Goal: a crash loop is one long outage.
    const told: unknown[] = [];
    const clock = createRecoveryClock(
      3,
      (event) => told.push(event.detail?.recover_ms),
      () => false,
    );
    clock.begin(1000, 'SIGKILL', 0);
    clock.begin(3000, 'SIGSEGV', 0);
    clock.look(4000, { frames: 0, epoch: 2 }, 2, 2);
    assert.deepEqual(told, [3000]);
  });
});

describe('where a learner resumes', () => {
  it('from its own folder once a checkpoint is complete there, else from where the run was resumed', () => {
    // Goal: a half-written checkpoint is none.
    const folder = mkdtempSync(join(tmpdir(), 'envladder-resume-'));
    assert.equal(checkpointToResume(null, '/from'), '/from');
    assert.equal(checkpointToResume(join(folder, 'not-there'), '/from'), '/from');
    mkdirSync(join(folder, '000000000512-tmp'));
    writeFileSync(join(folder, '000000000512-tmp', 'manifest.json'), '{}');
    mkdirSync(join(folder, '000000001024'));
    assert.equal(checkpointToResume(folder, '/from'), '/from');
    writeFileSync(join(folder, '000000001024', 'manifest.json'), '{}');
    assert.equal(checkpointToResume(folder, '/from'), folder);
    rmSync(folder, { recursive: true });
  });
});
