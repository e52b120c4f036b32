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
  it('sends at most one message per 100 ms, the first 32 failures in full, the rest by id', () => {
    // Goal: 7,000 failing envs are a handful of messages.
    const sent: [number, number][] = [];
    const report = createFailureReport((failures, also) => sent.push([failures.length, also.length]));
    const error = new EnvladderError('env-failed', 'x'.repeat(10_000), { detail: { operation: 'reset' } });
    for (let envId = 0; envId < 7000; envId++) {
      report.add(error, envId, 'e');
      report.flush(envId / 100);
    }
    report.flush(200);
    assert.deepEqual(sent, [
      [1, 0],
      [32, 6967],
    ]);
  });

  it('sends the rest when asked without a clock, and nothing when there is nothing', () => {
    // Goal: last failures are told before the worker leaves.
    let messages = 0;
    const report = createFailureReport(() => messages++);
    report.flush();
    report.add(new EnvladderError('env-failed', 'm'), 1, 'e');
    report.flush(1000);
    report.add(new EnvladderError('env-failed', 'm'), 2, 'e');
    report.flush(1001);
    report.flush();
    assert.equal(messages, 2);
  });

  it('carries operation and breach, and cuts long messages', () => {
    // Goal: the supervisor can say what broke which rule.
    const breach = { envId: 3, kind: 'k', operation: 'step', key: 'reward', value: 'NaN', rule: 'must be a finite number' } as const;
    const report = createFailureReport(([failure]) => {
      assert.deepEqual(failure?.breach, breach);
      assert.equal(failure?.operation, 'step');
      assert.equal(failure?.message.length, 2000);
    });
    report.add(new EnvladderError('contract', 'y'.repeat(5000), { detail: breach }), 3, 'e');
    report.flush();
  });
});
