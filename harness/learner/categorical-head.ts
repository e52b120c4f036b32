// Independent categorical distributions over logits: one component is a discrete policy, several are a multi-discrete one. Pure.
import type { ActionHead } from './action-head.js';
import { noiseUniform } from './noise.js';

/** `sizes[c]` logits belong to component c, one after the other. */
export function categoricalHead(sizes: readonly number[]): ActionHead {
  const components = sizes.length;
  const outputs = sizes.reduce((sum, size) => sum + size, 0);
  const probability = new Float64Array(outputs);
  const entropyOf = new Float64Array(components);
  const chosen = new Int32Array(components);
  const hotter = new Float32Array(outputs);

  /** Fills `probability` of component c and returns log(sum(exp(logits))). */
  const normalise = (logits: Float32Array, from: number, c: number, first: number): number => {
    const size = sizes[c] as number;
    let max = -Infinity;
    for (let j = 0; j < size; j++) max = Math.max(max, logits[from + j] as number);
    let sum = 0;
    for (let j = 0; j < size; j++) {
      const e = Math.exp((logits[from + j] as number) - max);
      probability[first + j] = e;
      sum += e;
    }
    for (let j = 0; j < size; j++) probability[first + j] = (probability[first + j] as number) / sum;
    return max + Math.log(sum);
  };

  return {
    outputs,
    freeParameters: 0,
    actionLength: components,
    sample(logits, row, _free, noise, actions, at) {
      let logProb = 0;
      let first = 0;
      for (let c = 0; c < components; c++) {
        const from = row * outputs + first;
        const logSum = normalise(logits, from, c, first);
        const last = (sizes[c] as number) - 1;
        let left = noiseUniform(noise.key, noise.envId, noise.draw, c);
        let action = 0;
        // Inverse of the distribution function; rounding can never run past the last one.
        while (action < last && left >= (probability[first + action] as number)) {
          left -= probability[first + action] as number;
          action++;
        }
        actions[at + c] = action;
        logProb += (logits[from + action] as number) - logSum;
        first += sizes[c] as number;
      }
      return logProb;
    },
    sampleUniform(noise, actions, at) {
      for (let c = 0; c < components; c++) {
        actions[at + c] = Math.floor((sizes[c] as number) * noiseUniform(noise.key, noise.envId, noise.draw, c + 1));
      }
    },
    heat(logits, row, free, temperature) {
      for (let j = 0; j < outputs; j++) hotter[j] = (logits[row * outputs + j] as number) / temperature;
      return { outputs: hotter, free };
    },
    evaluate(logits, row, _free, actions, at, into) {
      into.logProb = 0;
      into.entropy = 0;
      let first = 0;
      for (let c = 0; c < components; c++) {
        const from = row * outputs + first;
        const logSum = normalise(logits, from, c, first);
        const action = actions[at + c] as number;
        let expected = 0;
        for (let j = 0; j < (sizes[c] as number); j++) {
          const p = probability[first + j] as number;
          if (p > 0) expected += p * (logits[from + j] as number);
        }
        const entropy = logSum - expected;
        entropyOf[c] = entropy;
        chosen[c] = first + action;
        into.logProb += (logits[from + action] as number) - logSum;
        into.entropy += entropy;
        first += sizes[c] as number;
      }
    },
    backward(row, dLogProb, dEntropy, dOutputs) {
      // grad logProb = onehot - p; grad H = -p (log p + H).
      let first = 0;
      const base = row * outputs;
      for (let c = 0; c < components; c++) {
        const entropy = entropyOf[c] as number;
        const end = first + (sizes[c] as number);
        for (let j = first; j < end; j++) {
          const p = probability[j] as number;
          const hot = j === chosen[c] ? 1 : 0;
          const dH = p > 0 && dEntropy !== 0 ? -p * (Math.log(p) + entropy) : 0;
          dOutputs[base + j] = dLogProb * (hot - p) + dEntropy * dH;
        }
        first = end;
      }
    },
    toEnv(actions, at, env, envAt) {
      for (let c = 0; c < components; c++) env[envAt + c] = actions[at + c] as number;
    },
  };
}
