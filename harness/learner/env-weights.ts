// How much the samples of each env count in an update. Made anew for each update, from the envs' scores or from its advantages; read by the
// epochs of ppo-update. `off` has no object at all.
//
// account     weight 1.0 (steady) down to 0.3 (erratic) on every term of the loss. It optimises sum(w J) instead of sum(J): what is still being
//             learned is erratic, so it counts less exactly then.
// importance  the first epoch takes every sample once; the later ones draw env e with share p = 0.3 / E + 0.7 rms(A_e) / sum(rms(A)) and weigh
//             by 1 / (E p), so the expected gradient is that of plain PPO and work goes where the gradient is (Schaul et al. 2016, "Prioritized
//             Experience Replay", with beta = 1; Katharopoulos and Fleuret 2018, "Not All Samples Are Created Equal"). The even part bounds
//             the weights at 1 / 0.3 (Hesterberg 1995, defensive mixtures).
import type { EnvScores } from './env-scores.js';
import type { Shuffler } from './shuffler.js';

/** The account's range of weights; also the even part of the draw, so that both stay within the same factor. */
const LEAST_WEIGHT = 0.3;

export interface SampleWeights {
  /** By sample of the update, row-major [rows x horizon]. */
  readonly weights: Float32Array;
  /** Fills `order` for an epoch: a permutation of all samples, or a draw of as many. */
  order(epoch: number, order: Int32Array): void;
  /** Weights of an epoch's samples; null: all count alike. */
  of(epoch: number): Float32Array | null;
}

/** `rows` are the update's rows in the rollout. */
export function accountWeights(scores: EnvScores, rows: Int32Array, horizon: number, shuffler: Shuffler): SampleWeights {
  const weights = new Float32Array(rows.length * horizon);
  rows.forEach((row, r) => {
    weights.fill(LEAST_WEIGHT + (1 - LEAST_WEIGHT) * scores.score(row), r * horizon, (r + 1) * horizon);
  });
  return {
    weights,
    order: (_epoch, order) => shuffler.shuffle(order, order.length),
    of: () => weights,
  };
}

/** Copies of each row's samples to expect in a drawn epoch: 1 on average, at least LEAST_WEIGHT. */
export function expectedCopies(advantages: Float32Array, rows: number, horizon: number): Float64Array {
  const copies = new Float64Array(rows);
  let sum = 0;
  for (let r = 0; r < rows; r++) {
    let squares = 0;
    for (let i = r * horizon; i < (r + 1) * horizon; i++) squares += (advantages[i] as number) ** 2;
    const size = Math.sqrt(squares / horizon);
    copies[r] = size;
    sum += size;
  }
  for (let r = 0; r < rows; r++) {
    copies[r] = sum === 0 ? 1 : LEAST_WEIGHT + ((1 - LEAST_WEIGHT) * rows * (copies[r] as number)) / sum;
  }
  return copies;
}

/** `advantages` as the loss will use them. */
export function importanceWeights(advantages: Float32Array, rows: number, horizon: number, shuffler: Shuffler): SampleWeights {
  const copies = expectedCopies(advantages, rows, horizon);
  const weights = Float32Array.from({ length: rows * horizon }, (_, i) => 1 / (copies[Math.floor(i / horizon)] as number));
  const permutation = Int32Array.from(weights, (_, i) => i);
  return {
    weights,
    order(epoch, order) {
      if (epoch === 0) {
        shuffler.shuffle(order, order.length);
        return;
      }
      // Systematic resampling over a fresh permutation: every sample comes floor or ceil of its expected copies.
      shuffler.shuffle(permutation, permutation.length);
      let mark = shuffler.uniform();
      let drawn = 0;
      for (const sample of permutation) {
        mark += copies[Math.floor(sample / horizon)] as number;
        for (; mark >= 1 && drawn < order.length; mark--) order[drawn++] = sample;
      }
      // Rounding of the sum can leave the last place empty.
      while (drawn < order.length) order[drawn++] = permutation.at(-1) as number;
      shuffler.shuffle(order, order.length);
    },
    of: (epoch) => (epoch === 0 ? null : weights),
  };
}
