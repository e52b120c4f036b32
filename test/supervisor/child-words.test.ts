// What the supervisor makes of a child's silence, last words and reported end.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { childError, isIncurable } from '../../harness/supervisor/child-error.js';
import { createOutputTail } from '../../harness/supervisor/output-tail.js';
import { startPatience } from '../../harness/supervisor/patience.js';

describe('patience', () => {
  it('ends once after the limit of observed time, not when it was ended before, and ignores its own sleep', (context) => {
    // Goal: a child is killed for its silence, never for the supervisor's.
    context.mock.timers.enable({ apis: ['setInterval'] });
    let clockMs = 0;
    let over = 0;
    const start = () =>
      startPatience(
        1000,
        () => over++,
        () => clockMs,
      );
    const patience = start();
    const pass = (ms: number): void => {
      clockMs += ms;
      context.mock.timers.tick(250);
    };
    pass(250);
    pass(3_600_000);
    assert.equal(over, 0, 'an hour asleep counts as two ticks');
    for (let i = 0; i < 10; i++) pass(250);
    assert.equal(over, 1);
    patience.end();
    start().end();
    for (let i = 0; i < 10; i++) pass(250);
    assert.equal(over, 1, 'whoever spoke is waited for no more');
  });
});

describe('a reported end', () => {
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
