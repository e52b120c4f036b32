// One training run of a learning claim: a mix of tasks, one set of learner modes, one seed, a fixed number of updates; what came out as plain
// numbers. Runs in a child process (entries/learn-child.ts); all sides of a claim ask for the same run but for the modes.
import { type PpoConfig, ppoSchema } from '../../contract/ppo-config.js';
import type { Backend } from '../../learner/backends.js';
import { createScorer } from './score-policy.js';
import type { Task } from './task.js';
import { createTaskRig } from './task-rig.js';
import { MIXES, type MixName } from './tasks.js';

export interface LearnRequest {
  readonly mix: MixName;
  readonly modes: Pick<PpoConfig, 'envWeights' | 'rewardNorm' | 'exploration'>;
  readonly seed: number;
  readonly size: LearnSize;
}

export interface LearnSize {
  readonly envsPerTask: number;
  readonly updates: number;
  /** Updates between two scores. */
  readonly scoreEvery: number;
  readonly scoreEpisodes: number;
}

/** Score, averaged over the tasks that can be learned, that counts as having learned the mix. */
export const TARGET_SCORE = 0.8;
/** Scores at the end that the final one averages, so that it is not one lucky evaluation. */
const LAST_SCORES = 3;
/** A score of zero would make ratios meaningless: whoever learns nothing scores this. */
const LEAST_SCORE = 0.01;

export interface Learned {
  /** Env steps until the mean score reached TARGET_SCORE; those of the whole run when it never did. */
  readonly stepsToTarget: number;
  readonly reached: boolean;
  /** Mean over the tasks, every task alike, of the last scores. */
  readonly finalScore: number;
  readonly finalScores: Readonly<Record<string, number>>;
  /** Mean absolute change of the mean score from one to the next: how rough the curve is. */
  readonly roughness: number;
  /** Variance over the updates of the loss that is minimised, and of its value part. */
  readonly lossVariance: number;
  readonly framesTaken: number;
  readonly framesAccounted: number;
}

const HYPER_PARAMETERS = {
  horizon: 16,
  epochs: 4,
  minibatch: 512,
  learningRate: 3e-3,
  entropy: 0.03,
  hidden: [32, 32],
  readyShare: 1,
  gamma: 0.97,
};

/** The hyper-parameters that all sides share, in words. */
export const SHARED_PPO =
  'horizon 16, 4 epochs, minibatch 512, learning rate 0.003, entropy 0.03, hidden 32-32, gamma 0.97, everything else as by default';

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}

/** Trains and scores. */
export async function learnMix({ mix, modes, seed, size }: LearnRequest, backend: Backend): Promise<Learned> {
  const tasks: readonly Task[] = MIXES[mix];
  const { envsPerTask, updates, scoreEvery, scoreEpisodes } = size;
  const ppo = ppoSchema.parse({ ...HYPER_PARAMETERS, ...modes });
  const rig = createTaskRig({ tasks, envsPerTask, ppo, seed, backend });
  const scorer = createScorer(tasks, scoreEpisodes, seed);
  const curve: { steps: number; scores: ReadonlyMap<string, number>; mean: number }[] = [];
  const losses: number[] = [];
  try {
    for (let update = 1; update <= updates; update++) {
      await rig.update();
      losses.push(rig.losses()['loss'] as number);
      if (update % scoreEvery !== 0 && update !== updates) continue;
      const scores = scorer.score(rig.policy, update);
      curve.push({ steps: rig.frames().taken, scores, mean: mean([...scores.values()]) });
    }
    const { taken, accounted } = rig.frames();
    const last = curve.slice(-LAST_SCORES);
    const first = curve.find((point) => point.mean >= TARGET_SCORE);
    const names = [...(last[0]?.scores.keys() ?? [])];
    const finalScores = Object.fromEntries(names.map((name) => [name, mean(last.map(({ scores }) => scores.get(name) as number))]));
    return {
      stepsToTarget: first?.steps ?? taken,
      reached: first !== undefined,
      finalScore: Math.max(LEAST_SCORE, mean(Object.values(finalScores))),
      finalScores,
      roughness: curve.length < 2 ? 0 : mean(curve.slice(1).map((point, i) => Math.abs(point.mean - (curve[i]?.mean ?? 0)))),
      lossVariance: variance(losses),
      framesTaken: taken,
      framesAccounted: accounted,
    };
  } finally {
    rig.close();
  }
}
