// Adam over a list of parameter arrays, with the global gradient norm clipped first. Plain typed arrays: the networks here are small, one
// pass over them costs less than the hundred tiny backend calls it replaces, and the state is ready to be written to a checkpoint.
// Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 1.

const BETA1 = 0.9;
const BETA2 = 0.999;
/** 1e-5 as in the PPO baselines, not the paper's 1e-8. */
const EPSILON = 1e-5;

export interface AdamState {
  readonly first: readonly Float32Array[];
  readonly second: readonly Float32Array[];
  step: number;
}

export function createAdam(parameters: readonly Float32Array[]): AdamState {
  return {
    first: parameters.map((p) => new Float32Array(p.length)),
    second: parameters.map((p) => new Float32Array(p.length)),
    step: 0,
  };
}

/** Euclidean norm over all gradients together. */
export function globalNorm(gradients: readonly Float32Array[]): number {
  let squares = 0;
  for (const gradient of gradients) for (let i = 0; i < gradient.length; i++) squares += (gradient[i] as number) ** 2;
  return Math.sqrt(squares);
}

/**
 * One step in place. `maxNorm` 0 = no clip. Returns the norm before clipping; a norm that is not finite changes nothing, so that one
 * overflow cannot ruin the weights.
 */
export function stepAdam(
  state: AdamState,
  parameters: readonly Float32Array[],
  gradients: readonly Float32Array[],
  learningRate: number,
  maxNorm: number,
): number {
  const norm = globalNorm(gradients);
  if (!Number.isFinite(norm)) return norm;
  const scale = maxNorm > 0 && norm > maxNorm ? maxNorm / (norm + 1e-6) : 1;
  state.step++;
  const rate = learningRate / (1 - BETA1 ** state.step);
  const correct2 = 1 / (1 - BETA2 ** state.step);
  for (let k = 0; k < parameters.length; k++) {
    const p = parameters[k] as Float32Array;
    const g = gradients[k] as Float32Array;
    const m = state.first[k] as Float32Array;
    const v = state.second[k] as Float32Array;
    for (let i = 0; i < p.length; i++) {
      const slope = (g[i] as number) * scale;
      const mean = BETA1 * (m[i] as number) + (1 - BETA1) * slope;
      const square = BETA2 * (v[i] as number) + (1 - BETA2) * slope * slope;
      m[i] = mean;
      v[i] = square;
      p[i] = (p[i] as number) - (rate * mean) / (Math.sqrt(square * correct2) + EPSILON);
    }
  }
  return norm;
}
