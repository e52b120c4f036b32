// "Weights from 1.0 to 0.3 by stability make training 22 % faster and its curves smooth": plain PPO, the account's weights, and uneven draws
// with importance weights, on a mix of easy, hard, sparse and broken envs.
import type { Claim } from '../claim.js';
import { LEARNING_METHOD, learningMetrics, measureLearning } from '../learning/learning-claim.js';

export const weight22pct: Claim = {
  id: 'weight-22pct',
  said: {
    text: 'per-env weights from 1.0 down to 0.3 by stability made training 22 % faster, with smooth curves',
    value: 22,
    unit: '% faster',
  },
  question: 'Does a policy for easy, hard, sparse and broken envs learn sooner when unstable envs count less?',
  register: () => ({
    sides: [
      { name: 'account', role: 'account', what: 'loss terms of each env times 1.0 (steady returns) down to 0.3 (erratic returns)' },
      { name: 'off', role: 'reference', what: 'every sample counts alike' },
      {
        name: 'importance',
        role: 'envladder',
        what: 'envs with large advantages are drawn more often and weighted by one over their share: the same objective',
      },
    ],
    metrics: learningMetrics('stability', 'stability-long'),
    rule: "held when the account's weights need at most 1 / 1.22 of the env steps that no weights need, and the final score is not lower by more than 5 %, on both mixes",
    rules: [
      { type: 'ratio', metric: 'steps-to-target', side: 'account', to: 'off', relation: 'at-most', bound: 1 / 1.22 },
      { type: 'ratio', metric: 'final-score', side: 'account', to: 'off', relation: 'at-least', bound: 0.95 },
      { type: 'ratio', metric: 'long-steps-to-target', side: 'account', to: 'off', relation: 'at-most', bound: 1 / 1.22 },
      { type: 'ratio', metric: 'long-final-score', side: 'account', to: 'off', relation: 'at-least', bound: 0.95 },
    ],
    paired: true,
    tests: 'figure',
    method: LEARNING_METHOD,
  }),
  needs: () => null,
  run: (context) =>
    measureLearning(context, ['stability', 'stability-long'], {
      account: { envWeights: 'account' },
      off: {},
      importance: { envWeights: 'importance' },
    }),
};
