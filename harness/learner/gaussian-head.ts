// A diagonal Gaussian with a log standard deviation that does not depend on the state. It lives in policy units: where both bounds of an
// element are finite, -1..1 is mapped onto them, elsewhere policy units are the environment's. Clipping happens on the way out only. Pure.
import { type ActionSpace, boundAt, elementCount } from '../contract/spaces.js';
import type { ActionHead } from './action-head.js';
import { noiseNormal, noiseUniform } from './noise.js';

const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

/** The head of a box action space; outputs are the means. */
export function gaussianHead(space: Extract<ActionSpace, { type: 'box' }>): ActionHead {
  const length = elementCount(space.shape);
  const low = Float64Array.from({ length }, (_, i) => boundAt(space.low, i));
  const high = Float64Array.from({ length }, (_, i) => boundAt(space.high, i));
  const centre = new Float64Array(length);
  const scale = new Float64Array(length).fill(1);
  for (let i = 0; i < length; i++) {
    const width = (high[i] as number) - (low[i] as number);
    if (!Number.isFinite(width) || width === 0) continue;
    centre[i] = (low[i] as number) + width / 2;
    scale[i] = width / 2;
  }
  /** Standardised deviations and inverse deviations of the row last evaluated. */
  const deviation = new Float64Array(length);
  const inverse = new Float64Array(length);
  const hotter = { outputs: new Float32Array(length), free: new Float32Array(length) };

  return {
    outputs: length,
    freeParameters: length,
    actionLength: length,
    sample(means, row, logStd, noise, actions, at) {
      let logProb = 0;
      for (let i = 0; i < length; i++) {
        const std = Math.exp(logStd[i] as number);
        const mean = means[row * length + i] as number;
        actions[at + i] = mean + std * noiseNormal(noise.key, noise.envId, noise.draw, i);
        // From the stored (rounded) action, so that the ratio of an unchanged policy is exactly one.
        const z = ((actions[at + i] as number) - mean) / std;
        logProb -= 0.5 * z * z + (logStd[i] as number) + HALF_LOG_2PI;
      }
      return logProb;
    },
    sampleUniform(noise, actions, at) {
      for (let i = 0; i < length; i++) actions[at + i] = 2 * noiseUniform(noise.key, noise.envId, noise.draw, i + 1) - 1;
    },
    heat(means, row, logStd, temperature) {
      // N(m, s^2) to the power 1 / T is N(m, T s^2) but for its norm.
      const wider = 0.5 * Math.log(temperature);
      for (let i = 0; i < length; i++) {
        hotter.outputs[i] = means[row * length + i] as number;
        hotter.free[i] = (logStd[i] as number) + wider;
      }
      return hotter;
    },
    evaluate(means, row, logStd, actions, at, into) {
      into.logProb = 0;
      into.entropy = 0;
      for (let i = 0; i < length; i++) {
        const inv = Math.exp(-(logStd[i] as number));
        const z = ((actions[at + i] as number) - (means[row * length + i] as number)) * inv;
        deviation[i] = z;
        inverse[i] = inv;
        into.logProb -= 0.5 * z * z + (logStd[i] as number) + HALF_LOG_2PI;
        into.entropy += (logStd[i] as number) + 0.5 + HALF_LOG_2PI;
      }
    },
    backward(row, dLogProb, dEntropy, dOutputs, dFree) {
      for (let i = 0; i < length; i++) {
        const z = deviation[i] as number;
        dOutputs[row * length + i] = dLogProb * z * (inverse[i] as number);
        dFree[i] = (dFree[i] as number) + dLogProb * (z * z - 1) + dEntropy;
      }
    },
    toEnv(actions, at, env, envAt) {
      for (let i = 0; i < length; i++) {
        const value = (centre[i] as number) + (scale[i] as number) * (actions[at + i] as number);
        env[envAt + i] = Math.min(high[i] as number, Math.max(low[i] as number, value));
      }
    },
  };
}
