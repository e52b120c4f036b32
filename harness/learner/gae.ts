// Generalised advantage estimation over rows of transitions. Pure: what follows a transition (the next value, a bootstrap from the final
// observation, zero at a terminal state) is decided by the caller and given as `nextValues`.

export interface GaeRows {
  readonly rows: number;
  /** Transitions per row; all arrays below are row-major [rows x horizon]. */
  readonly horizon: number;
  readonly rewards: Float32Array;
  readonly values: Float32Array;
  /** V(s') as it counts for the target: 0 after termination, V(final) after truncation. */
  readonly nextValues: Float32Array;
  /** 1 where the episode ended with this transition (terminated, truncated): nothing is carried back over it. */
  readonly ends: Uint8Array;
}

/**
 * A_t = delta_t + gamma * lambda * A_{t+1} within an episode, delta_t = r_t + gamma * V(s_{t+1}) - V(s_t); returns are A_t + V(s_t).
 * Schulman, Moritz, Levine, Jordan, Abbeel 2016, "High-Dimensional Continuous Control Using Generalized Advantage Estimation", eq. 16.
 */
export function estimateAdvantages(input: GaeRows, gamma: number, lambda: number, advantages: Float32Array, returns: Float32Array): void {
  const { rows, horizon, rewards, values, nextValues, ends } = input;
  for (let row = 0; row < rows; row++) {
    let carry = 0;
    for (let t = horizon - 1; t >= 0; t--) {
      const i = row * horizon + t;
      if (ends[i] === 1) carry = 0;
      const value = values[i] as number;
      carry = (rewards[i] as number) + gamma * (nextValues[i] as number) - value + gamma * lambda * carry;
      advantages[i] = carry;
      returns[i] = carry + value;
    }
  }
}

/** Shifts and scales the first `count` advantages to mean 0 and standard deviation 1. */
export function normalizeAdvantages(advantages: Float32Array, count: number): void {
  if (count < 2) return;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += advantages[i] as number;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += ((advantages[i] as number) - mean) ** 2;
  const std = Math.sqrt(squares / (count - 1));
  for (let i = 0; i < count; i++) advantages[i] = ((advantages[i] as number) - mean) / (std + 1e-8);
}

/** 1 - Var(returns - values) / Var(returns): 1 = perfect critic, 0 = no better than a constant; 0 when returns do not vary. */
export function explainedVariance(values: Float32Array, returns: Float32Array, count: number): number {
  let meanReturn = 0;
  let meanError = 0;
  for (let i = 0; i < count; i++) {
    meanReturn += (returns[i] as number) / count;
    meanError += ((returns[i] as number) - (values[i] as number)) / count;
  }
  let varReturn = 0;
  let varError = 0;
  for (let i = 0; i < count; i++) {
    varReturn += ((returns[i] as number) - meanReturn) ** 2;
    varError += ((returns[i] as number) - (values[i] as number) - meanError) ** 2;
  }
  return varReturn === 0 ? 0 : 1 - varError / varReturn;
}
