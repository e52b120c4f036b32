// "127 million steps in six days at 50,000 steps a second": counter, clock and rate must be of the same thing. The account's three figures, and a
// run on this machine, whose rate, time and total are counted by different processes.
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { meanLatencyMs, runLadderOf } from '../rigs/ladder-run.js';

const TOLD = { steps: 127e6, days: 6, rate: 50_000, envs: 7000, stepMs: 22.7 };
const DAY_S = 86_400;

/** What the three figures make of each other. */
function told(): Taken {
  const seconds = TOLD.days * DAY_S;
  return {
    'over-total': (TOLD.rate * seconds) / TOLD.steps,
    'mean-rate': TOLD.steps / seconds,
    'busy-envs': ((TOLD.steps / seconds) * TOLD.stepMs) / 1000 / TOLD.envs,
  };
}

async function counted(context: ClaimContext): Promise<Taken> {
  const envs = context.pick({ full: 1000, quick: 1000, tiny: 20 });
  const { tiers } = await runLadderOf(context, {
    name: 'totals',
    tiers: [envs],
    seconds: context.pick({ full: 10, quick: 3, tiny: 1 }),
    mix: { cartpole: 1 },
    learner: 'random',
    minStepsPerEnv: 0,
  });
  const tier = tiers[0];
  if (tier === undefined || tier.agent_steps === 0) throw new Error('the tier made no steps');
  // Rate and time from the tier; the total from the balance: frames that the learner accounted for, in another process.
  const { balance } = tier;
  const dropped = Object.values(balance.dropped).reduce((sum, n) => sum + n, 0);
  const accounted = balance.trained + balance.evaluated + balance.superseded + dropped + balance.in_flight - balance.carried_in;
  return {
    'over-total': (tier.sampling_sps * tier.seconds) / accounted,
    'mean-rate': accounted / tier.seconds,
    'busy-envs': (tier.sampling_sps * meanLatencyMs(tier)) / 1000 / envs,
  };
}

async function run(context: ClaimContext): Promise<Measured> {
  const samples = await context.interleave({ told, counted: () => counted(context) });
  return {
    samples,
    conditions: {
      told: `${TOLD.steps / 1e6} million steps, ${TOLD.days} days, ${TOLD.rate.toLocaleString('en-US')} steps/s, ${TOLD.envs} envs, mean step ${TOLD.stepMs} ms`,
      counted: `${context.pick({ full: 1000, quick: 1000, tiny: 20 })} cartpole with random actions; steps published by the workers against frames accounted for by the learner`,
    },
    notes: [
      'Rate times time over total is 1 when the three are of the same run. The account would need six days at 245 steps/s, or 42 minutes at 50,000.',
      "Busy envs is Little's law: rate times mean step over envs, the part of the envs that is in a step at any moment. Above 1 is impossible; the account's total keeps 0.08 % of its envs busy.",
    ],
  };
}

export const totals: Claim = {
  id: 'totals',
  said: { text: '127 million steps in six days, at 50,000 steps a second', value: 50_000, unit: 'steps/s' },
  question: 'Do rate, time and total agree with each other?',
  register: () => ({
    sides: [
      { name: 'told', role: 'account', what: "the account's own figures, divided" },
      {
        name: 'counted',
        role: 'envladder',
        what: "a run here: rate and time from the workers' counters, the total from what the learner accounted for",
      },
    ],
    metrics: [
      { id: 'over-total', name: 'rate times time over total', unit: '', better: 'lower', kind: 'share' },
      { id: 'mean-rate', name: 'total over time', unit: 'steps/s', better: 'higher', kind: 'rate' },
      { id: 'busy-envs', name: 'envs in a step at any moment', unit: 'of all envs', better: 'higher', kind: 'share' },
    ],
    rule: "held when the account's rate times its time is its total, give or take 5 %",
    rules: [
      { type: 'value', metric: 'over-total', side: 'told', relation: 'at-least', bound: 0.95 },
      { type: 'value', metric: 'over-total', side: 'told', relation: 'at-most', bound: 1.05 },
    ],
    tests: 'figure',
    method: 'The told side is arithmetic; the counted side shows that the same check passes on a run whose counters are honest.',
  }),
  needs: () => null,
  run,
};
