// Keeps an update that makes no sense from doing harm: weights and optimiser are saved before it and put back when its loss, gradient or
// weights are no numbers, or when the backend throws. The next update is the next try; MAX_BAD_UPDATES in a row are the learner's end.
import { EnvladderError } from '../contract/errors.js';
import type { Policy } from './policy.js';

/** One or two can be an unlucky batch or a short trouble of the backend; a third says that it will not get better by itself. */
export const MAX_BAD_UPDATES = 3;

export interface GuardedUpdateOptions {
  readonly policy: Policy;
  /** Told of each update that was put back, with numbers; `cause` is what it threw. */
  readonly onBadUpdate: (message: string, cause: Error) => void;
}

/**
 * Runs `update` on `transitions`; null when it was put back. Throws `learner-died` when it was the last bad one allowed, or when the
 * backend does not even take the old weights.
 */
export type GuardedUpdate = <Result>(transitions: number, update: () => Promise<Result>) => Promise<Result | null>;

export function createGuardedUpdate({ policy, onBadUpdate }: GuardedUpdateOptions): GuardedUpdate {
  const { signature, adam, network, counters } = policy;
  const live = [...policy.parameters.map(({ data }) => data), ...adam.first, ...adam.second];
  const saved = live.map((array) => new Float32Array(array.length));
  let badInARow = 0;
  const putBack = (): void => {
    for (const [i, array] of live.entries()) array.set(saved[i] as Float32Array);
    network.upload();
  };
  return async (transitions, update) => {
    for (const [i, array] of saved.entries()) array.set(live[i] as Float32Array);
    const step = adam.step;
    try {
      const result = await update();
      badInARow = 0;
      return result;
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
      const number = counters.updates + 1;
      badInARow++;
      adam.step = step;
      try {
        putBack();
      } catch (second) {
        throw new EnvladderError(
          'learner-died',
          `update ${number} of policy '${signature}' failed (${cause.message}), and the backend does not take the weights from before it (${String(second)})`,
          { cause, detail: { signature, update: number } },
        );
      }
      onBadUpdate(
        `update ${number} of policy '${signature}' was put back: ${cause.message}. ${transitions} transitions are dropped as bad-update; bad updates in a row: ${badInARow}, ${MAX_BAD_UPDATES} end the learner`,
        cause,
      );
      if (badInARow < MAX_BAD_UPDATES) return null;
      throw new EnvladderError(
        'learner-died',
        `${badInARow} updates in a row of policy '${signature}' made no sense, the last one: ${cause.message}. Lower ppo.learningRate, set ppo.maxGradNorm, or look at what the envs return`,
        { cause, detail: { signature, update: number, badInARow } },
      );
    }
  };
}
