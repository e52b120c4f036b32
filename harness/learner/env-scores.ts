// How steady each env's episode returns are, as one number from 0 (erratic) to 1 (steady): what the account's weights and both kinds of
// exploration go by. Fed with every ended episode, read when actions are sampled and when an update weighs its samples.
// The account names a stability score and the range of its weights, not how the score is made; this is the plainest
// scale-free reading, 1 / (1 + coefficient of variation) over the recent episodes.

/** Share of the newest episode in the running moments once there are that many: about the last twenty episodes count. */
const NEWEST_SHARE = 0.1;
/** Keeps a mean of exactly zero from dividing by zero. */
const TINY = 1e-8;

/** Numbers kept per env: episodes seen, mean and variance of their returns. */
export const SCORE_COLUMNS = 3;

export interface EnvScores {
  /** Appends `count` rows without episodes. */
  addRows(count: number): void;
  /** An episode of `row` ended with this undiscounted return. */
  add(row: number, episodeReturn: number): void;
  /** 0..1; 1 before the second episode, and while all returns are equal. */
  score(row: number): number;
  /** The row's SCORE_COLUMNS numbers, to be written to or read from `at` on. */
  save(row: number, into: Float32Array, at: number): void;
  load(row: number, from: Float32Array, at: number): void;
}

/** Exponentially weighted moments (Finch 2009, "Incremental calculation of weighted mean and variance"); plain ones at first. */
export function createEnvScores(): EnvScores {
  let numbers = new Float64Array(0);
  return {
    addRows(count) {
      const bigger = new Float64Array(numbers.length + count * SCORE_COLUMNS);
      bigger.set(numbers);
      numbers = bigger;
    },
    add(row, episodeReturn) {
      const at = row * SCORE_COLUMNS;
      const episodes = (numbers[at] as number) + 1;
      const share = Math.max(1 / episodes, NEWEST_SHARE);
      const mean = numbers[at + 1] as number;
      const step = share * (episodeReturn - mean);
      numbers[at] = episodes;
      numbers[at + 1] = mean + step;
      numbers[at + 2] = (1 - share) * ((numbers[at + 2] as number) + (episodeReturn - mean) * step);
    },
    score(row) {
      const at = row * SCORE_COLUMNS;
      const deviation = Math.sqrt(numbers[at + 2] as number);
      return deviation === 0 ? 1 : 1 / (1 + deviation / (Math.abs(numbers[at + 1] as number) + TINY));
    },
    save(row, into, at) {
      for (let c = 0; c < SCORE_COLUMNS; c++) into[at + c] = numbers[row * SCORE_COLUMNS + c] as number;
    },
    load(row, from, at) {
      for (let c = 0; c < SCORE_COLUMNS; c++) numbers[row * SCORE_COLUMNS + c] = from[at + c] as number;
    },
  };
}
