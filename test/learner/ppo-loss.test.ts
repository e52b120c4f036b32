import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionSpace } from '../../harness/contract/spaces.js';
import { headFor } from '../../harness/learner/head-for.js';
import { noiseNormal, noiseUniform } from '../../harness/learner/noise.js';
import { type LossCoefficients, type LossSamples, ppoLoss } from '../../harness/learner/ppo-loss.js';
import { near } from './near.js';

const SPACES: Record<string, ActionSpace> = {
  discrete: { type: 'discrete', n: 4 },
  'multi-discrete': { type: 'multi-discrete', nvec: [2, 3, 1] },
  gaussian: { type: 'box', shape: [3], low: -2, high: 2 },
};
const COUNT = 6;

/** A minibatch whose old policy differs from the new one, so that some ratios are clipped and some are not. */
function scene(space: ActionSpace, seed: number) {
  const head = headFor(space);
  const old = Float32Array.from({ length: COUNT * head.outputs }, (_, i) => noiseNormal(seed, 1, i, 0));
  const outputs = old.map((value, i) => value + 0.5 * noiseNormal(seed, 2, i, 0));
  const free = Float32Array.from({ length: head.freeParameters }, (_, i) => 0.3 * noiseNormal(seed, 3, i, 0));
  const actions = new Float32Array(COUNT * head.actionLength);
  const logProbs = new Float32Array(COUNT);
  for (let i = 0; i < COUNT; i++) {
    logProbs[i] = head.sample(old, i, free, { key: seed, envId: i, draw: 0 }, actions, i * head.actionLength);
  }
  const random = (env: number) => Float32Array.from({ length: COUNT }, (_, i) => noiseNormal(seed, env, i, 0));
  const samples: LossSamples = { count: COUNT, actions, logProbs, advantages: random(4), returns: random(5), values: random(6) };
  return { head, samples, outputs, newValues: random(7), free };
}

function lossAndGradient(space: ActionSpace, seed: number, coefficients: LossCoefficients, weighted = false) {
  const { head, samples: plain, outputs, newValues, free } = scene(space, seed);
  const drawn = (env: number) => Float32Array.from({ length: COUNT }, (_, i) => 0.3 + noiseUniform(seed, env, i, 0));
  const samples: LossSamples = weighted ? { ...plain, weights: drawn(8), ratios: drawn(9) } : plain;
  const gradient = {
    dOutputs: new Float32Array(outputs.length),
    dValues: new Float32Array(COUNT),
    dFree: new Float64Array(free.length),
  };
  const terms = ppoLoss(head, coefficients, samples, outputs, newValues, free, gradient);
  /** Central difference of the total along element `i` of `array`, in steps that float32 can hold. */
  const slope = (array: Float32Array, i: number): number => {
    const kept = array[i] as number;
    const scratch = { dOutputs: new Float32Array(outputs.length), dValues: new Float32Array(COUNT), dFree: new Float64Array(free.length) };
    const at = (value: number): number => {
      array[i] = value;
      return ppoLoss(head, coefficients, samples, outputs, newValues, free, scratch).total;
    };
    const step = 2 ** -9;
    const difference =
      (at(Math.fround(kept + step)) - at(Math.fround(kept - step))) / (Math.fround(kept + step) - Math.fround(kept - step));
    array[i] = kept;
    return difference;
  };
  return { terms, gradient, slope, outputs, newValues, free };
}

describe('PPO loss', () => {
  for (const [name, space] of Object.entries(SPACES)) {
    it(`has the gradient that finite differences give: ${name}`, () => {
      // Goal: every term (clipped ratio, clipped value, entropy) differentiates right for every head, free parameters included.
      let checked = 0;
      let clipped = 0;
      for (let seed = 1; seed <= 20; seed++) {
        for (const [valueClip, weighted] of [
          [0, false],
          [0.4, false],
          [0, true],
          [0.4, true],
        ] as const) {
          const coefficients = { clip: 0.2, valueClip, entropy: 0.05, valueCoef: 0.7 };
          const { terms, gradient, slope, outputs, newValues, free } = lossAndGradient(space, seed, coefficients, weighted);
          clipped += terms.clipShare;
          const compare = (array: Float32Array, found: ArrayLike<number>): void => {
            for (let i = 0; i < array.length; i++) {
              const expected = slope(array, i);
              const error = Math.abs((found[i] as number) - expected);
              // A difference that straddles a kink of max or clip shows neither side's slope; those few are left out below.
              if (error > 2e-3 * Math.max(1, Math.abs(expected))) kinks++;
              checked++;
            }
          };
          let kinks = 0;
          compare(outputs, gradient.dOutputs);
          compare(newValues, gradient.dValues);
          compare(free, gradient.dFree);
          assert.ok(kinks <= 1, `seed ${seed}, valueClip ${valueClip}: ${kinks} gradients differ`);
        }
      }
      assert.ok(checked > 500 && clipped > 0, 'the scenes reach the clipped branch');
    });
  }

  it('is not changed in a single bit by weights of one, and scales with them sample by sample', () => {
    // Goal: plain PPO is the case of no weights; a weight is a factor of a sample's terms, a ratio one of its policy term alone.
    const { head, samples, outputs, newValues, free } = scene(SPACES['gaussian'] as ActionSpace, 4);
    const coefficients = { clip: 0.2, valueClip: 0.4, entropy: 0.05, valueCoef: 0.7 };
    const run = (extra: Partial<LossSamples>) => {
      const gradient = {
        dOutputs: new Float32Array(outputs.length),
        dValues: new Float32Array(COUNT),
        dFree: new Float64Array(free.length),
      };
      const terms = ppoLoss(head, coefficients, { ...samples, ...extra }, outputs, newValues, free, gradient);
      return { terms, gradient };
    };
    const ones = new Float32Array(COUNT).fill(1);
    const plain = run({});
    assert.deepEqual(run({ weights: ones }), plain);
    assert.deepEqual(run({ weights: ones, ratios: ones }), plain);
    assert.deepEqual(run({ weights: null, ratios: null }), plain);
    const only = run({ weights: Float32Array.from({ length: COUNT }, (_, i) => (i === 2 ? 3 : 0)) }).gradient.dValues;
    near(only[2], 3 * (plain.gradient.dValues[2] as number), 1e-6, 'value gradient of the sample that counts three times');
    near(only[1], 0, 0, 'value gradient of a sample that does not count');
    const { terms } = run({ ratios: new Float32Array(COUNT).fill(2) });
    near(terms.policy, 2 * plain.terms.policy, 1e-6, 'policy term');
    assert.deepEqual([terms.value, terms.entropy, terms.kl], [plain.terms.value, plain.terms.entropy, plain.terms.kl]);
  });

  it('is the surrogate worked out by hand', () => {
    // Goal: signs and clipping. One sample each of (A>0, r high), (A<0, r low): both clipped; a fair coin that was 1/3 and 1.
    const head = headFor({ type: 'discrete', n: 2 });
    const samples: LossSamples = {
      count: 2,
      actions: Float32Array.of(0, 0),
      logProbs: Float32Array.of(Math.log(0.5 / 1.5), Math.log(0.5 / 0.5)),
      advantages: Float32Array.of(2, -3),
      returns: Float32Array.of(1, 0),
      values: Float32Array.of(0, 0),
    };
    const gradient = { dOutputs: new Float32Array(4), dValues: new Float32Array(2), dFree: new Float64Array(0) };
    const terms = ppoLoss(
      head,
      { clip: 0.2, valueClip: 0, entropy: 0.01, valueCoef: 0.5 },
      samples,
      new Float32Array(4),
      new Float32Array(2),
      new Float32Array(0),
      gradient,
    );
    near(terms.policy, (-2 * 1.2 + 3 * 0.8) / 2, 1e-6, 'policy term');
    near(terms.value, 0.25, 1e-6, 'value term');
    near(terms.entropy, Math.log(2), 1e-6, 'entropy');
    near(terms.total, terms.policy + 0.5 * terms.value - 0.01 * Math.log(2), 1e-6, 'total');
    near(terms.kl, (0.5 - Math.log(1.5) + (-0.5 + Math.log(2))) / 2, 1e-6, 'kl');
    assert.equal(terms.clipShare, 1);
    for (const slope of gradient.dOutputs) near(slope, 0, 1e-9, 'gradient of clipped samples at a uniform policy');
    near(gradient.dValues[0], (0.5 * -1) / 2, 1e-6, 'value gradient');
  });
});

describe('action heads', () => {
  it('sample with the probabilities they claim', () => {
    // Goal: inverse-distribution sampling and log-probabilities agree: 40,000 draws within 5 standard errors.
    const head = headFor({ type: 'multi-discrete', nvec: [3, 2] });
    const logits = Float32Array.of(0.3, -1, 1.2, 0.5, -0.5);
    const draws = 40_000;
    const seen = new Map<string, number>();
    const claimed = new Map<string, number>();
    const actions = new Float32Array(2);
    for (let draw = 0; draw < draws; draw++) {
      const logProb = head.sample(logits, 0, new Float32Array(0), { key: 9, envId: 4, draw }, actions, 0);
      const name = actions.join();
      seen.set(name, (seen.get(name) ?? 0) + 1);
      claimed.set(name, Math.exp(logProb));
    }
    let total = 0;
    for (const [name, p] of claimed) {
      total += p;
      const error = Math.sqrt((p * (1 - p)) / draws);
      assert.ok(Math.abs((seen.get(name) ?? 0) / draws - p) < 5 * error, `${name}: ${seen.get(name)} of ${draws} for ${p}`);
    }
    near(total, 1, 1e-5, 'sum over all outcomes, each seen');
  });

  it('keep the sampled Gaussian action and clip only what the environment gets', () => {
    // Goal: log-probabilities belong to the unclipped action; bounds are mapped from -1..1 where both are finite.
    const head = headFor({ type: 'box', shape: [3], low: [-2, 0, Number.NEGATIVE_INFINITY], high: [2, 10, Number.POSITIVE_INFINITY] });
    const env = new Float32Array(3);
    head.toEnv(Float32Array.of(3, -0.5, 40), 0, env, 0);
    assert.deepEqual([...env], [2, 2.5, 40]);
    const means = Float32Array.of(0, 0, 0);
    const actions = new Float32Array(3);
    const free = Float32Array.of(0.5, 0.5, 0.5);
    const logProb = head.sample(means, 0, free, { key: 1, envId: 1, draw: 1 }, actions, 0);
    const evaluation = { logProb: 0, entropy: 0 };
    head.evaluate(means, 0, free, actions, 0, evaluation);
    near(evaluation.logProb, logProb, 1e-6, 'log-probability of an unchanged policy');
  });

  it('draw noise that depends on seed, env id and draw alone', () => {
    // Goal: actions do not depend on arrival order or the number of workers; streams of neighbours differ.
    assert.equal(noiseUniform(7, 3, 5, 0), noiseUniform(7, 3, 5, 0));
    const values = new Set<number>();
    for (let env = 0; env < 100; env++) for (let draw = 0; draw < 100; draw++) values.add(noiseUniform(7, env, draw, 0));
    assert.ok(values.size > 9_980, `${values.size} of 10,000 are distinct (32-bit birthday: at most a few repeats)`);
    const mean = [...values].reduce((a, b) => a + b) / values.size;
    near(mean, 0.5, 0.015, 'mean');
  });
});
