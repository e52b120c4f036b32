// "A step takes 18.3 ms on average at 1,000 environments and 22.7 ms at 7,000, 24 % more": the same env, the same workers, the same random actions
// at both sizes. What a step waits for grows with the number of envs that share the cores; what it costs need not.
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { meanLatencyMs, runLadderOf } from '../rigs/ladder-run.js';

async function takeSide(context: ClaimContext, envs: number): Promise<Taken> {
  const record = await runLadderOf(context, {
    name: 'tier-24pct',
    tiers: [envs],
    seconds: context.pick({ full: 8, quick: 3, tiny: 1 }),
    mix: { cartpole: 1 },
    learner: 'random',
    minStepsPerEnv: 0,
  });
  const tier = record.tiers[0];
  if (tier === undefined || tier.sampling_sps <= 0) throw new Error('the tier made no steps');
  const workers = Number((record.plan as { workers: number }).workers);
  return { 'latency-ms': meanLatencyMs(tier), 'cost-us': (workers * 1e6) / tier.sampling_sps, rate: tier.sampling_sps };
}

async function run(context: ClaimContext): Promise<Measured> {
  const [few, many] = context.pick({ full: [1000, 7000], quick: [1000, 7000], tiny: [20, 140] }) as [number, number];
  const samples = await context.interleave({
    'tier-1000': () => takeSide(context, few),
    'tier-7000': () => takeSide(context, many),
  });
  return {
    samples,
    conditions: {
      envs: `${few} and ${many} cartpole`,
      learner: 'random actions: it answers at once, so that steps are all that is measured',
      workers: 'cores less one, the same for both',
    },
    notes: [
      'Latency is from the action to the frame, so it holds the turns that other envs of the same worker take; with a fixed number of cores busy all the time it must grow as the number of envs does (Little).',
      'The cost of a step is worker time over steps: what the same step takes of a core.',
    ],
  };
}

export const tier24pct: Claim = {
  id: 'tier-24pct',
  said: { text: 'a step takes 18.3 ms on average at 1,000 environments and 22.7 ms at 7,000: 24 % more', value: 1.24, unit: 'times' },
  question: 'How much longer does a step take with seven times the environments on the same cores?',
  register: () => ({
    sides: [
      { name: 'tier-7000', role: 'account', what: '7,000 envs' },
      { name: 'tier-1000', role: 'account', what: '1,000 envs' },
    ],
    metrics: [
      { id: 'latency-ms', name: 'mean step latency', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'cost-us', name: 'worker time per step', unit: 'µs', better: 'lower', kind: 'time' },
      { id: 'rate', name: 'steps', unit: 'steps/s', better: 'higher', kind: 'rate' },
    ],
    rule: 'held when the mean step latency at 7,000 is at most 1.24 times that at 1,000',
    rules: [{ type: 'ratio', metric: 'latency-ms', side: 'tier-7000', to: 'tier-1000', relation: 'at-most', bound: 1.24 }],
    tests: 'figure',
    method: "Each repeat is a ladder of its own with one tier; the mean is over the tier's own histogram.",
  }),
  needs: () => null,
  run,
};
