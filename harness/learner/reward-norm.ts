// Rewards as the learner trains on them, in three forms; what reports and statistics show is never touched. Fed with every frame when it is
// settled, read by the update. `off` has no object at all.
//
// account     r' = (r - mean) / std over all rewards of the env so far, as each one arrives. Subtracting a mean adds a constant to every step,
//             and where episodes differ in length that changes which policy is best (Ng, Harada, Russell 1999, "Policy invariance under reward
//             transformations": of additive terms only differences of potentials are safe).
// return-std  r' = r / std(G), G = the running discounted sum of the mix entry's rewards: scale only, one positive number per entry and
//             update, so the order of any two policies of a task stays (Engstrom et al. 2020, "Implementation Matters in Deep Policy
//             Gradients", reward scaling; as VecNormalize of the baselines, without its clip). One scale per task, as in Hessel et al. 2019,
//             "Multi-task Deep Reinforcement Learning with PopArt": no task drowns the others; what counts between tasks does change.
import type { PpoConfig } from '../contract/ppo-config.js';
import { createMoments, type Moments } from './moments.js';

/** Below this a deviation is taken for none: scaling by it would blow up rounding. PopArt's lower bound. */
const LEAST_STD = 1e-4;

export interface RewardNorm {
  readonly mode: 'account' | 'return-std';
  /** Per env (`account`) or per task (`return-std`). */
  readonly moments: Moments;
  /** Appends rows of a task, by its number. */
  addRows(count: number, task: number): void;
  /** Takes in the reward of a step of `row`, `done` when it ended the episode; returns what to store. */
  see(row: number, reward: number, done: boolean): number;
  /** The row's episode was cut or begins anew. */
  begin(row: number): void;
  /** What the row's stored rewards are multiplied with in an update. */
  scale(row: number): number;
}

/** Centres and scales per env: what the account does. */
function accountNorm(): RewardNorm {
  const moments = createMoments();
  return {
    mode: 'account',
    moments,
    addRows: (count) => moments.grow(count),
    see(row, reward) {
      moments.add(row, reward);
      return (reward - moments.mean(row)) / (moments.deviation(row) + 1e-8);
    },
    begin: () => undefined,
    scale: () => 1,
  };
}

/** Scales per task by the deviation of its discounted returns. */
function returnStdNorm(gamma: number): RewardNorm {
  const moments = createMoments();
  let taskOf = new Int32Array(0);
  let sums = new Float64Array(0);
  return {
    mode: 'return-std',
    moments,
    addRows(count, task) {
      const tasks = new Int32Array(taskOf.length + count).fill(task, taskOf.length);
      tasks.set(taskOf);
      taskOf = tasks;
      const bigger = new Float64Array(taskOf.length);
      bigger.set(sums);
      sums = bigger;
      if (task >= moments.count) moments.grow(task + 1 - moments.count);
    },
    see(row, reward, done) {
      const sum = gamma * (sums[row] as number) + reward;
      moments.add(taskOf[row] as number, sum);
      sums[row] = done ? 0 : sum;
      return reward;
    },
    begin(row) {
      sums[row] = 0;
    },
    scale(row) {
      const deviation = moments.deviation(taskOf[row] as number);
      return deviation < LEAST_STD ? 1 : 1 / deviation;
    },
  };
}

/** Null for `off`. */
export function createRewardNorm({ rewardNorm = 'off', gamma }: Pick<PpoConfig, 'rewardNorm' | 'gamma'>): RewardNorm | null {
  if (rewardNorm === 'off') return null;
  return rewardNorm === 'account' ? accountNorm() : returnStdNorm(gamma);
}
