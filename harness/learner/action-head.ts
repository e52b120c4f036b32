// What a policy distribution must offer: sampling, log-probability, entropy, their gradients with respect to the network's outputs, and
// the way from a sampled action to what the environment gets. Plain numbers over typed arrays: no backend in sight, so that every head
// is checked against finite differences. Categorical and Gaussian heads implement it.

/** Result of `evaluate`, reused from row to row. */
export interface Evaluation {
  logProb: number;
  entropy: number;
}

export interface ActionHead {
  /** Network outputs per observation. */
  readonly outputs: number;
  /** Parameters that do not depend on the observation (log standard deviations). */
  readonly freeParameters: number;
  /** Numbers stored per action in a rollout. */
  readonly actionLength: number;
  /** Draws the action of row `row` from counter-based noise, writes it at `actions[at...]`, returns its log-probability. */
  sample(
    outputs: Float32Array,
    row: number,
    free: Float32Array,
    noise: { readonly key: number; readonly envId: number; readonly draw: number },
    actions: Float32Array,
    at: number,
  ): number;
  /** Draws a uniform action instead: over the choices, over the bounds of a box, over -1..1 where it has none. */
  sampleUniform(noise: { readonly key: number; readonly envId: number; readonly draw: number }, actions: Float32Array, at: number): void;
  /** Outputs (as row 0) and free parameters of the distribution of row `row` to the power 1 / temperature. Valid until the next call. */
  heat(outputs: Float32Array, row: number, free: Float32Array, temperature: number): { outputs: Float32Array; free: Float32Array };
  /** Log-probability of the stored action and entropy of the distribution at row `row`. */
  evaluate(outputs: Float32Array, row: number, free: Float32Array, actions: Float32Array, at: number, into: Evaluation): void;
  /**
   * For the row last evaluated: writes dLogProb * grad(logProb) + dEntropy * grad(entropy) into `dOutputs` and adds the part of the free
   * parameters to `dFree`.
   */
  backward(row: number, dLogProb: number, dEntropy: number, dOutputs: Float32Array, dFree: Float64Array): void;
  /** What the environment gets for a stored action: clipped to bounds, log-probabilities keep the unclipped one. */
  toEnv(actions: Float32Array, at: number, env: Int32Array | Float32Array, envAt: number): void;
}
