// "Exploration per env, epsilon-greedy, steered by the score": off, random actions under PPO with the policy's log-probabilities kept for them,
// and a hotter policy with its true ones, on a mix of easy, hard, sparse and broken envs.
import type { Claim } from '../claim.js';
import { LEARNING_METHOD, learningMetrics, measureLearning } from '../learning/learning-claim.js';

export const epsPpo: Claim = {
  id: 'eps-ppo',
  said: { text: 'each env explores epsilon-greedily on top of PPO, with an epsilon steered by its score', value: null, unit: '' },
  question: 'Does a policy for easy, hard, sparse and broken envs learn sooner, or more, with random actions mixed in by score?',
  register: () => ({
    sides: [
      {
        name: 'account',
        role: 'account',
        what: "a uniform action with chance 0.05 (steady returns) to 0.3 (erratic), else the policy's own; the policy's log-probability is kept for both",
      },
      { name: 'off', role: 'reference', what: "the policy's own samples: its entropy is the exploration" },
      {
        name: 'temperature',
        role: 'envladder',
        what: 'samples at temperature 1.1 to 1.5 by the same score, weighted by their true probabilities',
      },
    ],
    metrics: learningMetrics('stability', 'stability-long'),
    rule: 'held when it needs no more env steps than without, and the final score is not lower by more than 5 %, on both mixes; the account gives no figure',
    rules: [
      { type: 'ratio', metric: 'steps-to-target', side: 'account', to: 'off', relation: 'at-most', bound: 1 },
      { type: 'ratio', metric: 'final-score', side: 'account', to: 'off', relation: 'at-least', bound: 0.95 },
      { type: 'ratio', metric: 'long-steps-to-target', side: 'account', to: 'off', relation: 'at-most', bound: 1 },
      { type: 'ratio', metric: 'long-final-score', side: 'account', to: 'off', relation: 'at-least', bound: 0.95 },
    ],
    paired: true,
    tests: 'direction',
    method: LEARNING_METHOD,
  }),
  needs: () => null,
  run: (context) =>
    measureLearning(context, ['stability', 'stability-long'], {
      account: { exploration: 'account' },
      off: {},
      temperature: { exploration: 'temperature' },
    }),
};
