// "Centring and scaling rewards per env took the variance of the loss from 0.15 to 0.02": off, the account's way, and scaling by the deviation
// of returns, on mixed scales of reward and on tasks where the length of an episode is what is to be learned.
import type { Claim } from '../claim.js';
import { LEARNING_METHOD, learningMetrics, measureLearning } from '../learning/learning-claim.js';

/** What the account says its loss variance became, and was. */
const SAID_RATIO = 0.02 / 0.15;

export const rewardNorm: Claim = {
  id: 'reward-norm',
  said: {
    text: 'per-env normalisation of rewards, (r - mean) / std, took the variance of the loss from 0.15 to 0.02',
    value: 0.02,
    unit: 'of 0.15',
  },
  question: 'Does normalising rewards per env calm the loss, and does the policy still learn what the tasks pay for?',
  register: () => ({
    sides: [
      { name: 'account', role: 'account', what: "each reward minus the mean and over the deviation of its env's rewards so far" },
      { name: 'off', role: 'reference', what: 'rewards as they come' },
      {
        name: 'return-std',
        role: 'envladder',
        what: 'rewards over the deviation of the discounted return of their mix entry; nothing is subtracted',
      },
    ],
    metrics: [
      ...learningMetrics('scales').filter(({ id }) => id === 'loss-variance'),
      ...learningMetrics('scales').filter(({ id }) => id !== 'loss-variance'),
    ],
    rule:
      'held when the variance of the loss falls at least as far as 0.15 to 0.02, and the final score on the rewards that the tasks pay is not lower ' +
      'by more than 5 %',
    rules: [
      { type: 'ratio', metric: 'loss-variance', side: 'account', to: 'off', relation: 'at-most', bound: SAID_RATIO },
      { type: 'ratio', metric: 'final-score', side: 'account', to: 'off', relation: 'at-least', bound: 0.95 },
    ],
    paired: true,
    tests: 'figure',
    method: `${LEARNING_METHOD} The loss is that of the last minibatch of each update.`,
  }),
  needs: () => null,
  run: (context) =>
    measureLearning(context, ['scales'], { account: { rewardNorm: 'account' }, off: {}, 'return-std': { rewardNorm: 'return-std' } }),
};
