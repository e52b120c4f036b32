// A policy without a backend, all its numbers drawn from its step: what is read back is compared with what was meant, bit by bit.
import { ppoSchema } from '../contract/ppo-config.js';
import type { ActorCritic } from '../learner/actor-critic.js';
import { createAdam } from '../learner/adam.js';
import { type Checkpoint, restorePolicy } from '../learner/checkpoint-read.js';
import { headFor } from '../learner/head-for.js';
import { initialParameters } from '../learner/network-shape.js';
import { planObservation } from '../learner/observation-plan.js';
import type { Policy } from '../learner/policy.js';
import { createShuffler } from '../learner/shuffler.js';

const HIDDEN = [8];
const ACTIONS = 2;

export function madePolicy(step: number): Policy {
  const plan = planObservation({ obs: { dtype: 'f32', shape: [3], low: -1, high: 1 } }, 'auto');
  const shuffler = createShuffler(step);
  const parameters = initialParameters(
    { planes: plan.planes, hidden: HIDDEN, activation: 'relu', outputs: ACTIONS, freeParameters: ACTIONS },
    shuffler,
  );
  const adam = createAdam(parameters.map(({ data }) => data));
  for (const array of [...adam.first, ...adam.second]) array.set(Array.from(array, () => shuffler.uniform()));
  adam.step = step;
  return {
    signature: 'chaos',
    config: { ...ppoSchema.parse({}), hidden: HIDDEN },
    plan,
    head: headFor({ type: 'box', shape: [ACTIONS], low: -1, high: 1 }),
    parameters,
    free: parameters.at(-1)?.data ?? new Float32Array(0),
    network: { upload: () => undefined } as ActorCritic,
    adam,
    shuffler,
    noiseKey: step,
    counters: { updates: step, trained: step, gradientSteps: 2 * step },
  };
}

function numbersOf({ parameters, adam, shuffler, counters }: Policy): string {
  const all = [parameters.map(({ data }) => [...data]), adam.first.map((a) => [...a]), adam.second.map((a) => [...a])];
  return JSON.stringify([all, adam.step, [...shuffler.state], counters]);
}

/** Whether a checkpoint holds exactly the policy that was made for its step. */
export function holdsMadePolicy(checkpoint: Checkpoint): boolean {
  const [stored] = checkpoint.policies;
  if (stored === undefined || checkpoint.policies.length !== 1) return false;
  const blank = madePolicy(0);
  restorePolicy(blank, stored, checkpoint.path);
  return numbersOf(blank) === numbersOf(madePolicy(checkpoint.step));
}
