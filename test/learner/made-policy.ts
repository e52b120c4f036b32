// Policies without a backend, their numbers drawn from a seed: what checkpoints are tested with, in this process and in children that are
// killed while they write one.
import { ppoSchema } from '../../harness/contract/ppo-config.js';
import type { ActorCritic } from '../../harness/learner/actor-critic.js';
import { createAdam } from '../../harness/learner/adam.js';
import { headFor } from '../../harness/learner/head-for.js';
import { initialParameters } from '../../harness/learner/network-shape.js';
import { planObservation } from '../../harness/learner/observation-plan.js';
import type { Policy } from '../../harness/learner/policy.js';
import { createShuffler } from '../../harness/learner/shuffler.js';

export function policyOf(seed: number, trained: number, signature = 's', hidden = [4]): Policy {
  const head = headFor({ type: 'box', shape: [2], low: -1, high: 1 });
  const plan = planObservation({ obs: { dtype: 'f32', shape: [3], low: -1, high: 1 } }, 'auto');
  const config = { ...ppoSchema.parse({}), hidden };
  const shuffler = createShuffler(seed);
  const parameters = initialParameters({ planes: plan.planes, hidden, activation: 'relu', outputs: 2, freeParameters: 2 }, shuffler);
  const adam = createAdam(parameters.map(({ data }) => data));
  for (const array of [...adam.first, ...adam.second]) array.set(Array.from(array, () => shuffler.uniform()));
  adam.step = seed;
  const network = { upload: () => undefined } as ActorCritic;
  return {
    signature,
    config,
    plan,
    head,
    parameters,
    free: parameters.at(-1)?.data ?? new Float32Array(0),
    network,
    adam,
    shuffler,
    noiseKey: seed,
    counters: { updates: seed, trained, gradientSteps: 2 * seed },
  };
}

/** Everything of a policy that a checkpoint keeps, comparable. */
export function numbersOf({ parameters, adam, shuffler, counters }: Policy): string {
  return JSON.stringify([
    parameters.map(({ data }) => [...data]),
    adam.first.map((a) => [...a]),
    adam.second.map((a) => [...a]),
    adam.step,
    [...shuffler.state],
    counters,
  ]);
}
