// The networks of one policy on a backend. Parameters live in plain arrays (the optimiser steps them there); this file keeps the backend's
// copies, runs inference, and turns a gradient with respect to the outputs into gradients of the parameters. One upload of observations
// per call, one download per result; owns every tensor it makes.
import type { Tensor, Tensor1D, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import type { Backend } from './backends.js';
import { registerConvGradient } from './conv-gradient-wasm.js';
import { dense } from './dense-layer.js';
import { CONVOLUTIONS, type NetworkShape, type Parameter } from './network-shape.js';

/** Fills `dOutputs` [count x outputs] and `dValues` [count] from the network's outputs. */
export type OutputGradient = (outputs: Float32Array, values: Float32Array, dOutputs: Float32Array, dValues: Float32Array) => void;

export interface ActorCritic {
  readonly backend: Backend;
  readonly parameters: readonly Parameter[];
  /** Policy outputs [count x outputs] and values [count] of `count` observations, one array per plane of the shape. */
  infer(planes: readonly Float32Array[], count: number): { outputs: Float32Array; values: Float32Array };
  /** Forward, `outputGradient`, backward: gradients of the network's parameters, in order, without the free ones. */
  gradients(planes: readonly Float32Array[], count: number, outputGradient: OutputGradient): Float32Array[];
  /** Takes over changed parameters. */
  upload(): void;
  dispose(): void;
}

export function createActorCritic(backend: Backend, shape: NetworkShape, parameters: readonly Parameter[]): ActorCritic {
  const { tf } = backend;
  if (backend.name === 'wasm' && shape.planes.some((plane) => plane.image !== null)) registerConvGradient(tf);
  const onBackend = parameters.filter((parameter) => parameter.name !== 'actor/log_std');
  const towerSize = onBackend.length / 2;
  const make = (): Tensor[] => onBackend.map(({ data, shape: dims }) => tf.tensor(data, [...dims], 'float32'));
  let weights = make();

  const input = (planes: readonly Float32Array[], count: number): Tensor[] =>
    shape.planes.map((plane, i) => {
      const data = (planes[i] as Float32Array).subarray(0, count * plane.columns);
      return plane.image === null ? tf.tensor2d(data, [count, plane.columns]) : tf.tensor4d(data, [count, ...plane.image]);
    });

  const tower = (inputs: readonly Tensor[], tensors: readonly Tensor[]): Tensor2D => {
    let next = 0;
    const take = (): Tensor => tensors[next++] as Tensor;
    const parts = inputs.map((tensor, i) => {
      if (shape.planes[i]?.image === null) return tensor as Tensor2D;
      let x = tensor as Tensor4D;
      for (const { stride } of CONVOLUTIONS) {
        const kernel = take() as Tensor4D;
        x = tf.relu(tf.add(tf.conv2d(x, kernel, stride, 'valid'), take() as Tensor1D));
      }
      return tf.reshape(x, [x.shape[0], -1]) as Tensor2D;
    });
    let x = parts.length === 1 ? (parts[0] as Tensor2D) : (tf.concat(parts, 1) as Tensor2D);
    const convolved = shape.planes.some((plane) => plane.image !== null);
    for (let layer = 0; layer <= shape.hidden.length; layer++) {
      const activation = layer === shape.hidden.length ? 'linear' : shape.activation;
      const kernel = take() as Tensor2D;
      x = dense(backend, x, kernel, take() as Tensor1D, activation, layer > 0 || convolved);
    }
    return x;
  };

  return {
    backend,
    parameters,
    infer(planes, count) {
      return tf.tidy(() => {
        const inputs = input(planes, count);
        return {
          outputs: tower(inputs, weights.slice(0, towerSize)).dataSync() as Float32Array,
          values: tower(inputs, weights.slice(towerSize)).dataSync() as Float32Array,
        };
      });
    },
    gradients(planes, count, outputGradient) {
      return tf.tidy(() => {
        const inputs = input(planes, count);
        const dOutputs = new Float32Array(count * shape.outputs);
        const dValues = new Float32Array(count);
        // The loss as one operation: what it is worth does not matter here, only its gradient is asked for.
        const loss = tf.customGrad((outputs, values) => {
          outputGradient((outputs as Tensor).dataSync() as Float32Array, (values as Tensor).dataSync() as Float32Array, dOutputs, dValues);
          return {
            value: tf.scalar(0),
            gradFunc: () => [tf.tensor2d(dOutputs, [count, shape.outputs]), tf.tensor2d(dValues, [count, 1])],
          };
        });
        const run = (...tensors: Tensor[]): Tensor =>
          loss(tower(inputs, tensors.slice(0, towerSize)), tower(inputs, tensors.slice(towerSize)));
        return tf
          .grads(run)(weights)
          .map((gradient) => gradient.dataSync() as Float32Array);
      });
    },
    upload() {
      tf.dispose(weights);
      weights = make();
    },
    dispose() {
      tf.dispose(weights);
    },
  };
}
