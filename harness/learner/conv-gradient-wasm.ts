// The one kernel that training a convolution needs and the wasm backend lacks: the gradient with respect to the filter, written as a
// convolution of the input with the output's gradient (batch and channels change places). Valid padding only, which is what the encoder
// uses. Registered once per process, when a policy with convolutions is made on wasm.
import type { NamedAttrMap, Tensor4D } from '@tensorflow/tfjs';
import type { Tf } from './backends.js';

const KERNEL = 'Conv2DBackpropFilter';

/** Registers the kernel for backend `wasm` unless something already has. */
export function registerConvGradient(tf: Tf): void {
  if (tf.getKernel(KERNEL, 'wasm') !== undefined) return;
  tf.registerKernel({
    kernelName: KERNEL,
    backendName: 'wasm',
    kernelFunc({ inputs, attrs }) {
      const { strides, pad, filterShape } = attrs as NamedAttrMap & {
        strides: number | [number, number];
        pad: string;
        filterShape: [number, number, number, number];
      };
      if (pad !== 'valid') throw new Error(`the wasm convolution gradient handles padding 'valid' only, not '${pad}'`);
      const [height, width, inChannels, outChannels] = filterShape;
      return tf.tidy(() => {
        // [n,h,w,ci] -> [ci,h,w,n] and [n,oh,ow,co] -> [oh,ow,n,co]: the sum over the batch becomes the sum over channels, the stride
        // of the forward pass becomes the dilation of the "filter".
        const images = tf.transpose(inputs.x as Tensor4D, [3, 1, 2, 0]);
        const slopes = tf.transpose(inputs.dy as Tensor4D, [1, 2, 0, 3]);
        const summed = tf.conv2d(images, slopes, 1, 'valid', 'NHWC', strides);
        // Rows and columns that no stride reached come out at the end: they belong to no filter element.
        const filter = tf.slice(summed, [0, 0, 0, 0], [inChannels, height, width, outChannels]);
        return tf.transpose(filter, [1, 2, 0, 3]);
      });
    },
  });
}
