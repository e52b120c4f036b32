import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { createFailureReport } from '../../harness/worker/failure-report.js';
import { nextChunk } from '../../harness/worker/step-loop.js';

describe('chunk size', () => {
  it('settles where one chunk takes about a millisecond, for any cost of a step', () => {
    // Goal: fast kinds publish in large batches, slow ones one by one.
    fc.assert(
      fc.property(fc.double({ min: 1e-5, max: 50, noNaN: true }), fc.integer({ min: 1, max: 20_000 }), (stepMs, slots) => {
        let chunk = 16;
        for (let i = 0; i < 30; i++) {
          const claimed = Math.min(chunk, slots);
          chunk = nextChunk(chunk, claimed, claimed * stepMs, slots);
        }
        const ideal = Math.max(1, Math.min(slots, 1 / stepMs));
        assert.ok(chunk >= Math.floor(ideal / 2) && chunk <= Math.ceil(ideal) + 1, `${chunk} for an ideal of ${ideal}`);
      }),
    );
  });

  it('does not shrink because few envs were due', () => {
    // Goal: a quiet moment is no reason for small batches.
    assert.equal(nextChunk(512, 3, 0.01, 1000), 512);
    assert.equal(nextChunk(512, 3, 30, 1000), 1);
  });
});

describe('failure report', () => {
  const broken = (message: string, operation = 'step') => new EnvladderError('env-failed', message, { detail: { operation } });

  it('sends at most one batch per 100 ms, the first 32 failures in full, the rest by id and fate', () => {
    // Goal: 7,000 failing envs are a handful of messages.
    const sent: unknown[] = [];
    const report = createFailureReport((message) => {
      if (message.type === 'env-failures') sent.push([message.failures.length, ...Object.values(message.also).map(({ length }) => length)]);
    });
    const error = broken('x'.repeat(10_000), 'reset');
    for (let envId = 0; envId < 7000; envId++) {
      report.failed(error, envId, 'e', envId % 2 === 0 ? 'rebuild' : 'quarantine');
      report.flush(envId / 100);
    }
    report.flush(200);
    assert.deepEqual(sent, [
      [1, 0, 0, 0],
      [32, 3483, 0, 3484],
    ]);
  });

  it('sends the rest when asked without a clock, and nothing when there is nothing', () => {
    // Goal: last failures are told before the worker leaves.
    let messages = 0;
    const report = createFailureReport(() => void messages++);
    report.flush();
    report.failed(broken('m'), 1, 'e', 'rebuild');
    report.flush(1000);
    report.failed(broken('m'), 2, 'e', 'rebuild');
    report.flush(1001);
    report.flush();
    assert.equal(messages, 2);
  });

  it('carries operation, fate and breach, and cuts long messages', () => {
    // Goal: the supervisor can say what broke which rule, and what comes of it.
    const breach = { envId: 3, kind: 'k', operation: 'step', key: 'reward', value: 'NaN', rule: 'must be a finite number' } as const;
    const report = createFailureReport((message) => {
      assert(message.type === 'env-failures');
      const [failure] = message.failures;
      assert.deepEqual(failure?.breach, breach);
      assert.deepEqual([failure?.operation, failure?.fate, failure?.message.length], ['step', 'cool-down', 2000]);
    });
    report.failed(new EnvladderError('contract', 'y'.repeat(5000), { detail: breach }), 3, 'e', 'cool-down');
    report.flush();
  });

  it('says rebuilt only of envs that have not failed again since', () => {
    // Goal: who reads the messages in their order knows which envs step.
    const sent: unknown[] = [];
    const report = createFailureReport((message) => sent.push(message.type === 'env-rebuilt' ? message.envIds : message.failures.length));
    report.failed(broken('m'), 1, 'e', 'rebuild');
    report.rebuilt(1);
    report.rebuilt(2);
    report.failed(broken('m'), 2, 'e', 'quarantine');
    report.flush();
    report.rebuilt(7);
    report.flush();
    assert.deepEqual(sent, [2, [1], [7]]);
  });
});
