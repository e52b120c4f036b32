import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import type { Spaces } from '../../harness/contract/spaces.js';
import { type Backend, openBackend } from '../../harness/learner/backends.js';
import { type Activation, dense } from '../../harness/learner/dense-layer.js';
import { noiseNormal } from '../../harness/learner/noise.js';
import { planObservation } from '../../harness/learner/observation-plan.js';
import { createPolicy } from '../../harness/learner/policy.js';
import { onEachBackend } from './backends-under-test.js';
import { near, nearAll } from './near.js';
import { createTinyRig, tinyPpo } from './tiny-rig.js';

const ENCODED: Record<'mlp' | 'cnn', Spaces['observation']> = {
  mlp: { vector: { dtype: 'f32', shape: [3], low: -1, high: 1 } },
  // Not square, and sides that the strides do not divide: 41 leaves a rest at the first convolution.
  cnn: { rgb: { dtype: 'u8', shape: [36, 41, 2], low: 0, high: 255 }, vector: { dtype: 'f32', shape: [2], low: -1, high: 1 } },
};
const SLOW = { timeout: 120_000 };
const normal = (count: number, lane: number): Float32Array => Float32Array.from({ length: count }, (_, i) => noiseNormal(5, i, 0, lane));

describe('networks', () => {
  it('have the dense-layer gradient that the backend computes by itself', SLOW, async () => {
    // Goal: explicit transposes, the fused kernel and the sigmoid form of tanh change the speed, not the result.
    await onEachBackend((backend) => {
      const { tf } = backend;
      for (const activation of ['linear', 'relu', 'tanh'] satisfies Activation[]) {
        tf.tidy(() => {
          const x = tf.tensor2d(normal(7 * 5, 0), [7, 5]);
          const w = tf.tensor2d(normal(5 * 3, 1), [5, 3]);
          const b = tf.tensor1d(normal(3, 2));
          const dy = tf.tensor2d(normal(7 * 3, 3), [7, 3]);
          const plain = (a: Tensor, k: Tensor, c: Tensor): Tensor => {
            const z = tf.add(tf.matMul(a as Tensor2D, k as Tensor2D), c);
            return activation === 'linear' ? z : activation === 'relu' ? tf.relu(z) : tf.tanh(z);
          };
          const own = (a: Tensor, k: Tensor, c: Tensor): Tensor =>
            dense(backend, a as Tensor2D, k as Tensor2D, c as Tensor1D, activation, true);
          const expected = [plain(x, w, b), ...tf.grads(plain)([x, w, b], dy)];
          const found = [own(x, w, b), ...tf.grads(own)([x, w, b], dy)];
          const first = tf.grads((k, c) => dense(backend, x, k as Tensor2D, c as Tensor1D, activation, false))([w, b], dy);
          const what = `${backend.name}, ${activation}`;
          expected.forEach((tensor, i) => {
            nearAll(found[i]?.dataSync(), tensor.dataSync(), 2e-5, `${what}, tensor ${i}`);
          });
          first.forEach((tensor, i) => {
            nearAll(tensor.dataSync(), (expected[i + 2] as Tensor).dataSync(), 2e-5, `${what}, first layer ${i}`);
          });
        });
      }
    });
  });

  /** A policy of its own with heads large enough to be seen, its inputs, and a made-up gradient of its outputs. */
  const scene = (backend: Backend, encoder: 'mlp' | 'cnn') => {
    const policy = createPolicy(
      backend,
      's',
      { type: 'discrete', n: 3 },
      planObservation(ENCODED[encoder], encoder),
      tinyPpo({ encoder, activation: 'tanh', hidden: [6, 5] }),
      3,
    );
    const planes = policy.plan.planes.map((plane, p) => normal(2 * plane.columns, p));
    const weightO = normal(6, 10);
    const weightV = normal(2, 11);
    for (const { name, data } of policy.parameters) if (name === 'actor/out/kernel') data.set(normal(data.length, 12));
    policy.network.upload();
    const gradients = policy.network.gradients(planes, 2, (_o, _v, dO, dV) => {
      dO.set(weightO);
      dV.set(weightV);
    });
    const loss = (): number => {
      policy.network.upload();
      const { outputs, values } = policy.network.infer(planes, 2);
      return (
        outputs.reduce((sum, o, i) => sum + o * (weightO[i] as number), 0) +
        values.reduce((sum, v, i) => sum + v * (weightV[i] as number), 0)
      );
    };
    return { policy, gradients, loss };
  };

  it('have the gradient that finite differences give', SLOW, async () => {
    // Goal: parameters, upload and gradients stay in the same order from end to end, on every backend.
    await onEachBackend((backend) => {
      const { policy, gradients, loss } = scene(backend, 'mlp');
      policy.parameters.forEach(({ name, data }, k) => {
        const i = Math.floor(data.length / 2);
        const kept = data[i] as number;
        const step = 1 / 128;
        data[i] = kept + step;
        const up = loss();
        data[i] = kept - step;
        const down = loss();
        data[i] = kept;
        const slope = (up - down) / (2 * step);
        near(gradients[k]?.[i], slope, 0.01 * Math.max(0.1, Math.abs(slope)), `${backend.name}, ${name}[${i}]`);
      });
      policy.network.dispose();
    });
  });

  it('have the convolution gradients of the plain JavaScript backend', SLOW, async () => {
    // Goal: the filter gradient that wasm lacks is the right one, strides 4, 2 and 1 included.
    const { tf } = await openBackend('wasm');
    await tf.setBackend('cpu');
    const plain = scene({ name: 'tfjs-node', version: 'cpu', tf, explicitTranspose: false }, 'cnn');
    await onEachBackend((backend) => {
      const { policy, gradients } = scene(backend, 'cnn');
      policy.parameters.forEach(({ name }, k) => {
        const expected = plain.gradients[k] as Float32Array;
        const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        assert.ok(largest > 0, `${name} has a gradient`);
        nearAll(gradients[k], expected, 1e-4 * largest, `${backend.name}, ${name}`);
      });
      policy.network.dispose();
    });
  });

  it('leak no tensor over 1,000 updates', SLOW, async () => {
    // Goal: a run of days does not fill the backend's heap.
    await onEachBackend(async (backend) => {
      const before = backend.tf.memory().numTensors;
      const spaces: Spaces = {
        observation: { obs: { dtype: 'f32', shape: [2], low: -1, high: 1 } },
        action: { type: 'box', shape: [1], low: -1, high: 1 },
      };
      const env = {
        spaces,
        reset: (i: number, obs: Float32Array) => void obs.fill(i / 4),
        step: (_i: number, action: ArrayLike<number>, obs: Float32Array) => {
          obs.fill(action[0] as number);
          return { reward: action[0] as number, flags: 0 };
        },
      };
      const rig = createTinyRig({ env, envs: 2, backend, ppo: { horizon: 2, epochs: 1, hidden: [4], minibatch: 4, targetKl: 0 } });
      await rig.run({ updates: 10 });
      const settled = backend.tf.memory();
      await rig.run({ updates: 1000 });
      assert.equal(rig.group.agent.updates, 1010);
      assert.equal(backend.tf.memory().numTensors, settled.numTensors, backend.name);
      assert.equal(backend.tf.memory().numDataBuffers, settled.numDataBuffers, backend.name);
      rig.group.agent.dispose();
      assert.equal(backend.tf.memory().numTensors, before, `${backend.name}: dispose gives everything back`);
    });
  });
});
