import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { ObservationSpace } from '../../harness/contract/spaces.js';
import { planObservation } from '../../harness/learner/observation-plan.js';

const ACCOUNT: ObservationSpace = {
  rgb: { dtype: 'u8', shape: [224, 224, 3], low: 0, high: 255 },
  state: { dtype: 'f32', shape: [128], low: -1, high: 1 },
  vector: { dtype: 'f32', shape: [64], low: -1, high: 1 },
};

describe('observation plan', () => {
  it('pools the image of the account and keeps the rest, in the order of declaration', () => {
    // Goal: 14 x 14 x 3 + 128 + 64 columns in one matrix, bytes scaled to 0..1.
    const plan = planObservation(ACCOUNT, 'auto');
    assert.equal(plan.encoder, 'pool');
    assert.deepEqual(plan.planes, [{ name: 'flat', dtype: 'f32', columns: 780, image: null }]);
    assert.deepEqual(plan.outputs, [
      {
        name: 'flat',
        parts: [
          { key: 'rgb', transform: 'pool', scale: 1 / 255, offset: 0 },
          { key: 'state', transform: 'float', scale: 1, offset: 0 },
          { key: 'vector', transform: 'float', scale: 1, offset: 0 },
        ],
      },
    ]);
  });

  it('flattens what cannot be pooled, and everything when told to', () => {
    // Goal: auto never fails on a space that is valid.
    const odd: ObservationSpace = { rgb: { dtype: 'u8', shape: [15, 28, 1], low: 0, high: 255 } };
    assert.equal(planObservation(odd, 'auto').encoder, 'mlp');
    assert.equal(planObservation(odd, 'auto').planes[0]?.columns, 420);
    assert.equal(planObservation(ACCOUNT, 'mlp').planes[0]?.columns, 224 * 224 * 3 + 192);
  });

  it('hands whole images to convolutions as bytes, beside the flat columns', () => {
    // Goal: a rollout of raw images takes a byte per pixel.
    assert.deepEqual(planObservation(ACCOUNT, 'cnn').planes, [
      { name: 'flat', dtype: 'f32', columns: 192, image: null },
      { name: 'image_rgb', dtype: 'u8', columns: 150_528, image: [224, 224, 3] },
    ]);
  });

  it('refuses a forced encoder that has nothing to work on, naming the space', () => {
    // Goal: a plan error, found before the first frame.
    const flat: ObservationSpace = { vector: { dtype: 'f32', shape: [4], low: -1, high: 1 } };
    for (const encoder of ['pool', 'cnn'] as const) {
      assert.throws(
        () => planObservation(flat, encoder),
        (error) =>
          error instanceof EnvladderError &&
          error.code === 'bad-plan' &&
          error.message.includes('vector f32[4]') &&
          error.message.includes(encoder),
      );
    }
  });
});
