// One policy: head, networks, optimiser state, generator and counters. Made fresh from a seed or filled from a checkpoint; the inference
// side samples actions from it, the update side trains it.
import type { PpoConfig } from '../contract/ppo-config.js';
import type { ActionSpace } from '../contract/spaces.js';
import type { ActionHead } from './action-head.js';
import { type ActorCritic, createActorCritic } from './actor-critic.js';
import { type AdamState, createAdam } from './adam.js';
import type { Backend } from './backends.js';
import { headFor } from './head-for.js';
import { createLearnerModes, type LearnerModes } from './learner-modes.js';
import { initialParameters, type Parameter } from './network-shape.js';
import { noiseKey } from './noise.js';
import type { ObservationPlan } from './observation-plan.js';
import { createShuffler, type Shuffler } from './shuffler.js';

export interface Policy {
  readonly signature: string;
  readonly config: PpoConfig;
  readonly plan: ObservationPlan;
  readonly head: ActionHead;
  readonly parameters: readonly Parameter[];
  /** The head's own parameters: the data of the last parameter, or empty. */
  readonly free: Float32Array;
  readonly network: ActorCritic;
  readonly adam: AdamState;
  readonly shuffler: Shuffler;
  /** Null or left out: plain PPO. */
  readonly modes?: LearnerModes | null;
  /** Of action noise; a resumed policy gets another one, so that it does not repeat the draws of its first life. */
  noiseKey: number;
  /** Over this run and those it was resumed from. */
  readonly counters: { updates: number; trained: number; gradientSteps: number };
}

/** A policy with initial weights drawn from (seed, signature). */
export function createPolicy(
  backend: Backend,
  signature: string,
  action: ActionSpace,
  plan: ObservationPlan,
  config: PpoConfig,
  seed: number,
): Policy {
  const head = headFor(action);
  const shuffler = createShuffler(noiseKey(seed, `weights ${signature}`));
  const shape = {
    planes: plan.planes,
    hidden: config.hidden,
    activation: config.activation,
    outputs: head.outputs,
    freeParameters: head.freeParameters,
  };
  const parameters = initialParameters(shape, shuffler);
  return {
    signature,
    config,
    plan,
    head,
    parameters,
    free: head.freeParameters > 0 ? (parameters.at(-1) as Parameter).data : new Float32Array(0),
    network: createActorCritic(backend, shape, parameters),
    adam: createAdam(parameters.map((parameter) => parameter.data)),
    shuffler,
    modes: createLearnerModes(config),
    noiseKey: noiseKey(seed, `actions ${signature}`),
    counters: { updates: 0, trained: 0, gradientSteps: 0 },
  };
}
