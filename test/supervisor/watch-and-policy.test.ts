import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import type { Progress } from '../../harness/memory/interface.js';
import { childError, isIncurable } from '../../harness/supervisor/child-error.js';
import type { CrewEvent } from '../../harness/supervisor/crew.js';
import { reportFailures } from '../../harness/supervisor/env-events.js';
import { createOutputTail } from '../../harness/supervisor/output-tail.js';
import { startPatience } from '../../harness/supervisor/patience.js';
import { decideAfterDeath, envToBar } from '../../harness/supervisor/restart-policy.js';
import { createStallJudge } from '../../harness/supervisor/stall-judge.js';

const at = (envId: number, op: Progress['op'], loops: number): Progress => ({
  worker: 0,
  envId,
  op,
  loops,
  frames: 0,
  epoch: 0,
  nativeMs: 0,
  loopMs: 0,
  opMs: 0,
});

describe('stall judge', () => {
  it('calls a worker hung only after the whole deadline without any change', () => {
    // Goal: the step deadline is a deadline, not a guess.
    const judge = createStallJudge(1000, 100);
    assert.equal(judge.observe(0, at(5, 'step', 7), 100), false);
    for (let i = 0; i < 10; i++) assert.equal(judge.observe(0, at(5, 'step', 7), 100), false);
    assert.equal(judge.observe(0, at(5, 'step', 7), 100), true);
  });

  it('starts anew at every change of env, operation or round', () => {
    // Goal: a slow worker that moves is never killed.
    for (const change of [at(6, 'step', 7), at(5, 'reset', 7), at(5, 'step', 8)]) {
      const judge = createStallJudge(1000, 100);
      for (let i = 0; i < 10; i++) judge.observe(0, at(5, 'step', 7), 100);
      assert.equal(judge.observe(0, change, 100), false);
      for (let i = 0; i < 10; i++) assert.equal(judge.observe(0, change, 100), false);
      assert.equal(judge.observe(0, change, 100), true);
    }
  });

  it('does not hold its own sleep against the worker', () => {
    // Goal: a supervisor that was busy allocating, or a machine that was suspended, kills nobody.
    const judge = createStallJudge(1000, 100);
    judge.observe(0, at(5, 'step', 7), 100);
    assert.equal(judge.observe(0, at(5, 'step', 7), 60_000), false);
  });

  it('judges workers apart and forgets one that is started anew', () => {
    // Goal: one worker's silence is not another's.
    const judge = createStallJudge(150, 100);
    judge.observe(0, at(1, 'step', 1), 100);
    judge.observe(1, at(1, 'step', 1), 100);
    assert.equal(judge.observe(0, at(1, 'step', 1), 100), false);
    judge.forget(0);
    assert.equal(judge.observe(1, at(1, 'step', 1), 100), false);
    assert.equal(judge.observe(1, at(1, 'step', 1), 100), true);
    assert.equal(judge.observe(0, at(1, 'step', 1), 100), false);
  });
});

describe('patience', () => {
  it('ends once after the limit of observed time, starts anew when renewed, and ignores its own sleep', (context) => {
    // Goal: a child is killed for its silence, never for the supervisor's.
    context.mock.timers.enable({ apis: ['setInterval'] });
    let clockMs = 0;
    let over = 0;
    const patience = startPatience(
      1000,
      () => over++,
      () => clockMs,
    );
    const pass = (ms: number): void => {
      clockMs += ms;
      context.mock.timers.tick(250);
    };
    for (let i = 0; i < 3; i++) pass(250);
    patience.renew();
    for (let i = 0; i < 3; i++) pass(250);
    assert.equal(over, 0);
    patience.renew();
    pass(3_600_000);
    assert.equal(over, 0, 'an hour asleep counts as two ticks');
    for (let i = 0; i < 10; i++) pass(250);
    assert.equal(over, 1);
    patience.end();
  });
});

describe('restart policy', () => {
  it('restarts once, then gives the range up', () => {
    // Goal: one more chance per worker.
    assert.deepEqual([0, 1, 2].map(decideAfterDeath), ['restart', 'lose-range', 'lose-range']);
  });

  it('bars the env that was being built, reset or stepped, and nobody else', () => {
    // Goal: the env at work is held responsible; an idle or closing one is not.
    assert.deepEqual(
      [at(3, 'construct', 1), at(4, 'reset', 1), at(5, 'step', 1), at(6, 'close', 1), at(7, 'idle', 1), at(-1, 'step', 1)].map(envToBar),
      [3, 4, 5, null, null, null],
    );
  });

  it('keeps the code of what a child reported, and knows what a restart cannot cure', () => {
    // Goal: a bad module ends the run with its own exit code, a crash does not end it at all.
    assert.equal(childError('bad-module', 'm', 'worker-died').code, 'bad-module');
    assert.equal(childError('toString', 'm', 'worker-died').code, 'worker-died');
    assert.deepEqual(['bad-module', 'bad-kind', 'worker-died', 'nonsense'].map(isIncurable), [true, true, false, false]);
  });
});

describe('output tail', () => {
  it('keeps the newest bytes within its limit', async () => {
    // Goal: a child that prints without end costs bounded memory and its last words are kept.
    const tail = createOutputTail(100);
    const stream = new PassThrough();
    tail.listen(stream);
    for (let i = 0; i < 1000; i++) stream.write(`line ${i}\n`);
    stream.end('the end');
    await new Promise((done) => stream.once('end', done));
    assert.ok(tail.text().endsWith('line 999\nthe end'));
    assert.ok(Buffer.byteLength(tail.text()) <= 100);
  });
});

describe('failures of envs as events', () => {
  it('tells the first ones in full and all of them in one event', () => {
    // Goal: the record names every env that is out, in few rows.
    const events: CrewEvent[] = [];
    const failure = { envId: 3, entry: 'e', code: 'env-failed', operation: 'reset', message: 'm', fate: 'quarantine' } as const;
    reportFailures((event) => events.push(event), 1, [failure, { ...failure, envId: 4, operation: 'step' }], {
      rebuild: [],
      'cool-down': [],
      quarantine: [5, 6],
    });
    assert.deepEqual(
      events.map(({ type, envId, detail }) => [type, envId, detail?.envIds]),
      [
        ['reset-failed', 3, undefined],
        ['env-failed', 4, undefined],
        ['env-quarantined', undefined, [3, 4, 5, 6]],
      ],
    );
  });
});
