import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { estimateAdvantages, explainedVariance, normalizeAdvantages } from '../../harness/learner/gae.js';
import { near } from './near.js';

/** Sums the definition, one advantage at a time: A_t = sum over k of (gamma lambda)^k delta_{t+k} up to the end of the episode or the row. */
function slowAdvantage(
  t: number,
  horizon: number,
  at: (i: number) => { r: number; v: number; next: number; end: boolean },
  gamma: number,
  lambda: number,
): number {
  let sum = 0;
  for (let k = t; k < horizon; k++) {
    const { r, v, next, end } = at(k);
    sum += (gamma * lambda) ** (k - t) * (r + gamma * next - v);
    if (end) break;
  }
  return sum;
}

describe('generalised advantage estimation', () => {
  it('gives the numbers worked out by hand for one short episode', () => {
    // Goal: the formula, checked against arithmetic on paper: gamma 0.5, lambda 0.5, terminal at the end.
    const advantages = new Float32Array(3);
    const returns = new Float32Array(3);
    estimateAdvantages(
      {
        rows: 1,
        horizon: 3,
        rewards: Float32Array.of(1, 2, 4),
        values: Float32Array.of(8, 4, 2),
        nextValues: Float32Array.of(4, 2, 0),
        ends: Uint8Array.of(0, 0, 1),
      },
      0.5,
      0.5,
      advantages,
      returns,
    );
    // deltas: 1+2-8=-5, 2+1-4=-1, 4+0-2=2; A2=2, A1=-1+.25*2=-.5, A0=-5+.25*-.5=-5.125
    assert.deepEqual([...advantages], [-5.125, -0.5, 2]);
    assert.deepEqual([...returns], [2.875, 3.5, 4]);
  });

  it('equals the sum of the definition on random rows with episodes ending anywhere', () => {
    // Goal: the backward recursion, the row boundaries and the episode boundaries are right for every shape.
    // Even over 0..1: fc.double prefers numbers so small that nothing is carried.
    const share = fc.integer({ min: 0, max: 100 }).map((n) => n / 100);
    const number = fc.float({ min: -10, max: 10, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 9 }),
        share,
        share,
        fc.infiniteStream(fc.record({ r: number, v: number, next: number, end: fc.boolean() })),
        (rows, horizon, gamma, lambda, stream) => {
          const count = rows * horizon;
          const samples = Array.from({ length: count }, () => stream.next().value as { r: number; v: number; next: number; end: boolean });
          const advantages = new Float32Array(count);
          const returns = new Float32Array(count);
          estimateAdvantages(
            {
              rows,
              horizon,
              rewards: Float32Array.from(samples, ({ r }) => r),
              values: Float32Array.from(samples, ({ v }) => v),
              nextValues: Float32Array.from(samples, ({ next }) => next),
              ends: Uint8Array.from(samples, ({ end }) => (end ? 1 : 0)),
            },
            gamma,
            lambda,
            advantages,
            returns,
          );
          samples.forEach(({ v }, i) => {
            const first = Math.floor(i / horizon) * horizon;
            const expected = slowAdvantage(i - first, horizon, (t) => samples[first + t] as (typeof samples)[number], gamma, lambda);
            near(advantages[i], expected, 1e-4, `advantage ${i}`);
            near(returns[i], expected + v, 1e-4, `return ${i}`);
          });
        },
      ),
    );
  });

  it('normalises to mean 0 and deviation 1 and leaves a single sample alone', () => {
    // Goal: no division by a deviation that does not exist.
    const some = Float32Array.of(1, 2, 3, 6);
    normalizeAdvantages(some, 4);
    const mean = some.reduce((a, b) => a + b) / 4;
    const variance = some.reduce((a, b) => a + (b - mean) ** 2, 0) / 3;
    near(mean, 0, 1e-6, 'mean');
    near(variance, 1, 1e-6, 'variance');
    const one = Float32Array.of(7);
    normalizeAdvantages(one, 1);
    assert.equal(one[0], 7);
  });

  it('calls a perfect critic 1, a constant one 0, a harmful one negative', () => {
    // Goal: explained variance means what the papers mean.
    const returns = Float32Array.of(1, 2, 3, 4);
    assert.equal(explainedVariance(returns, returns, 4), 1);
    near(explainedVariance(Float32Array.of(5, 5, 5, 5), returns, 4), 0, 1e-9, 'constant critic');
    near(explainedVariance(Float32Array.of(4, 3, 2, 1), returns, 4), -3, 1e-9, 'reversed critic');
    assert.equal(explainedVariance(returns, Float32Array.of(2, 2, 2, 2), 4), 0);
  });
});
