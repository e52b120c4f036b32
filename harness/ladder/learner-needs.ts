// What PPO keeps for the envs of a plan, from the learner's own layout: observations as the resolved encoder stores them, and the
// networks of each space signature. Allocates none of it.
import { EnvladderError } from '../contract/errors.js';
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import { spaceSignature } from '../contract/spaces.js';
import { KEPT_CHECKPOINTS, POLICY_PARTS } from '../learner/checkpoint-format.js';
import { headFor } from '../learner/head-for.js';
import { modeBytesPerEnv } from '../learner/learner-modes.js';
import { initialParameters } from '../learner/network-shape.js';
import { type ObservationPlan, type ObservationPlane, planObservation } from '../learner/observation-plan.js';
import { createShuffler } from '../learner/shuffler.js';

const FLOAT = 4;
/** Weights, two moments of Adam, gradients. */
const COPIES_IN_MEMORY = 4;
/** Row state, length, start of the episode, held, env id, draws, number of the chunk. */
const ROW_BYTES = 1 + 4 + 4 + 1 + 4 + 4 + 2;
/** Reward, flags, bootstrap value. */
const STEP_BYTES = FLOAT + 1 + FLOAT;

export interface LearnerNeeds {
  readonly rolloutBytes: number;
  readonly networkBytes: number;
  /** All that are kept, and the one being written. */
  readonly checkpointBytes: number;
}

/** Bytes of a rollout with one row for each of `rows` envs. */
export function rolloutBytes(rows: number, horizon: number, planes: readonly ObservationPlane[], actionLength: number): number {
  const observation = planes.reduce((sum, plane) => sum + plane.columns * (plane.dtype === 'u8' ? 1 : FLOAT), 0);
  // Beside each observation lie its log-probability, its value and the action.
  return rows * ((horizon + 1) * (observation + FLOAT * (2 + actionLength)) + horizon * STEP_BYTES + ROW_BYTES);
}

/** Parameters of actor and critic together. Throws `bad-plan` for an image too small for the convolutions. */
export function parameterCount(
  { planes }: Pick<ObservationPlan, 'planes'>,
  action: EntryMessage['spaces']['action'],
  hidden: readonly number[],
): number {
  const { outputs, freeParameters } = headFor(action);
  // The narrowest network with these inputs is quickly made and tells the convolutions; the dense layers are counted at their widths.
  const narrow = initialParameters({ planes, hidden: [1], activation: 'tanh', outputs: 1, freeParameters: 0 }, createShuffler(0));
  const convolutions = narrow.reduce((sum, { name, data }) => sum + (name.includes('/conv') ? data.length : 0), 0);
  const inputs = narrow.find(({ name }) => name === 'actor/dense0/kernel')?.shape[0] ?? 0;
  const tower = (last: number): number => {
    const widths = [inputs, ...hidden, last];
    return widths.slice(1).reduce((sum, width, i) => sum + ((widths[i] as number) + 1) * width, 0);
  };
  return convolutions + tower(outputs) + tower(1) + freeParameters;
}

/** `work`, with the mix entry named in what it throws. */
function named<Value>({ name }: EntryMessage, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EnvladderError)) throw error;
    throw new EnvladderError(error.code, `mix.${name}: ${error.message}`, { cause: error, detail: error.detail });
  }
}

/** `envs` of each entry. Throws `bad-plan` when `ppo.encoder` does not fit an entry's spaces, with and without a learner. */
export function learnerNeeds(plan: Plan, entries: readonly EntryMessage[], envs: readonly number[]): LearnerNeeds {
  const { horizon, hidden, encoder } = plan.ppo;
  const parameters = new Map<string, number>();
  const modes = modeBytesPerEnv(plan.ppo);
  let rollouts = 0;
  let remembered = 0;
  entries.forEach((entry, index) => {
    const { action, observation } = entry.spaces;
    const layout = named(entry, () => planObservation(observation, encoder));
    if (plan.learner !== 'ppo') return;
    rollouts += rolloutBytes(envs[index] ?? 0, horizon, layout.planes, headFor(action).actionLength);
    rollouts += (envs[index] ?? 0) * modes.memory;
    remembered += (envs[index] ?? 0) * modes.checkpoint;
    const signature = spaceSignature(entry.spaces);
    if (!parameters.has(signature))
      parameters.set(
        signature,
        named(entry, () => parameterCount(layout, action, hidden)),
      );
  });
  const floats = [...parameters.values()].reduce((sum, count) => sum + count, 0);
  return {
    rolloutBytes: rollouts,
    networkBytes: floats * FLOAT * COPIES_IN_MEMORY,
    checkpointBytes: (floats * FLOAT * POLICY_PARTS.length + remembered) * (KEPT_CHECKPOINTS + 1),
  };
}
