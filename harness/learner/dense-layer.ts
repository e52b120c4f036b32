// A dense layer with its own gradient. The backend's would run matmuls with transpose flags, which on wasm take a path ten times slower
// than an explicit transpose followed by a plain matmul; and its tanh is a scalar loop, thirty times slower than the vectorised sigmoid.
import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import type { Backend, Tf } from './backends.js';

/** What tf.customGrad hands its function last: keeps tensors for the backward pass. */
type GradSaver = (tensors: Tensor2D[]) => void;

export type Activation = 'linear' | 'relu' | 'tanh';

/** tanh(x) = 2 sigmoid(2x) - 1; differs from tanh by at most a few 1e-7. */
function fastTanh(tf: Tf, x: Tensor2D): Tensor2D {
  return tf.sub(tf.mul(tf.sigmoid(tf.mul(x, 2)), 2), 1);
}

/** On wasm one fused kernel; TensorFlow has none, and each reshape that one would need costs as much there as a whole operation. */
function forward({ tf, explicitTranspose }: Backend, x: Tensor2D, kernel: Tensor2D, bias: Tensor1D, activation: Activation): Tensor2D {
  if (!explicitTranspose) {
    const z: Tensor2D = tf.add(tf.matMul(x, kernel), bias);
    return activation === 'linear' ? z : activation === 'relu' ? tf.relu(z) : tf.tanh(z);
  }
  // The kernel wants batches of matrices. Called by name: tf.fused.matMul refuses to fuse an activation while a gradient is recorded.
  const inputs = { a: tf.reshape(x, [1, ...x.shape]), b: tf.reshape(kernel, [1, ...kernel.shape]), bias };
  const attributes = { transposeA: false, transposeB: false, activation: activation === 'relu' ? 'relu' : 'linear' };
  const product = tf.engine().runKernel('_FusedMatMul', inputs, attributes) as Tensor2D;
  const z: Tensor2D = tf.reshape(product, [x.shape[0], kernel.shape[1]]);
  return activation === 'tanh' ? fastTanh(tf, z) : z;
}

/** a^T b without a transpose flag where that is slow. */
function matMulTA({ tf, explicitTranspose }: Backend, a: Tensor2D, b: Tensor2D): Tensor2D {
  return explicitTranspose ? tf.matMul(tf.transpose(a), b) : tf.matMul(a, b, true, false);
}

/** a b^T, likewise. */
function matMulTB({ tf, explicitTranspose }: Backend, a: Tensor2D, b: Tensor2D): Tensor2D {
  return explicitTranspose ? tf.matMul(a, tf.transpose(b)) : tf.matMul(a, b, false, true);
}

/** The part of tfjs-node's backend that runs a TensorFlow operation by name. */
interface NativeOperations {
  readonly binding: { readonly TF_ATTR_TYPE: number; readonly TF_FLOAT: number };
  executeSingleOutput(name: string, attributes: readonly unknown[], inputs: readonly Tensor2D[]): Tensor2D;
}

/**
 * Gradient before the activation, from the activation's own output: relu' = [h > 0], tanh' = 1 - h^2. TensorFlow has one operation for each;
 * put together from tfjs's pieces the same costs 3 (tanh) to 20 times (relu: its `step` looks for NaN) as much.
 */
function throughActivation(tf: Tf, dy: Tensor2D, h: Tensor2D, activation: Activation): Tensor2D {
  if (activation === 'linear') return dy;
  const native = tf.backend() as unknown as Partial<NativeOperations>;
  if (native.executeSingleOutput !== undefined && native.binding !== undefined) {
    const attributes = [{ name: 'T', type: native.binding.TF_ATTR_TYPE, value: native.binding.TF_FLOAT }];
    return activation === 'relu'
      ? native.executeSingleOutput('ReluGrad', attributes, [dy, h])
      : native.executeSingleOutput('TanhGrad', attributes, [h, dy]);
  }
  return activation === 'relu' ? tf.mul(dy, tf.step(h)) : tf.mul(dy, tf.sub(1, tf.square(h)));
}

/**
 * activation(x kernel + bias), [n, in] -> [n, out]. `inputGradient` false for the first layer: nobody needs the gradient of an observation,
 * and for wide observations it would be a third of the work.
 */
export function dense(
  backend: Backend,
  x: Tensor2D,
  kernel: Tensor2D,
  bias: Tensor1D,
  activation: Activation,
  inputGradient: boolean,
): Tensor2D {
  const { tf } = backend;
  const parameterGradients = (input: Tensor2D, dz: Tensor2D): [Tensor2D, Tensor1D] => {
    // A row of ones times dz sums over the batch; a reduction over the outer axis transposes first on wasm.
    const summed = backend.explicitTranspose
      ? tf.reshape(tf.matMul(tf.ones([1, dz.shape[0]]) as Tensor2D, dz), [dz.shape[1]])
      : tf.sum(dz, 0);
    return [matMulTA(backend, input, dz), summed as Tensor1D];
  };
  if (!inputGradient) {
    // x is no input of this operation, so nobody asks for its gradient; its owner keeps it until the gradients are there.
    const op = tf.customGrad((w, b, save) => {
      const h = forward(backend, x, w as Tensor2D, b as Tensor1D, activation);
      (save as GradSaver)([h]);
      return {
        value: h,
        gradFunc: (dy, saved) => parameterGradients(x, throughActivation(tf, dy as Tensor2D, saved[0] as Tensor2D, activation)),
      };
    });
    return op(kernel, bias) as Tensor2D;
  }
  const op = tf.customGrad((a, w, b, save) => {
    const h = forward(backend, a as Tensor2D, w as Tensor2D, b as Tensor1D, activation);
    (save as GradSaver)([a as Tensor2D, w as Tensor2D, h]);
    return {
      value: h,
      gradFunc: (dy, [input, weights, output]) => {
        const dz = throughActivation(tf, dy as Tensor2D, output as Tensor2D, activation);
        return [matMulTB(backend, dz, weights as Tensor2D), ...parameterGradients(input as Tensor2D, dz)];
      },
    };
  });
  return op(x, kernel, bias) as Tensor2D;
}
