// Samples actions that explore more than the policy by itself, env by env: the less steady an env's returns, the more. `off` has no object at
// all. Called for every action that is sampled; the update asks for the ratios.
//
// account      with chance e (0.05 steady .. 0.3 erratic) a uniform action, else the policy's own. The log-probability kept is the policy's,
//              as accounts of PPO with epsilon-greedy do: samples come from b = e U + (1 - e) pi, but the loss takes them for samples of pi.
//              (With the greedy action in place of the policy's own sample, as the word says, the error would be larger still.)
// temperature  samples from pi^(1/T), T = 1.1 steady .. 1.5 erratic, and keeps what is needed to be right: the log-probability of pi, which the
//              clip and the KL are about, and pi / b, which the loss is weighted with (Hilton, Cobbe, Schulman 2022, "Batch size-invariance for
//              policy optimization", decoupled objective; Precup, Sutton, Singh 2000 for the weight). With T >= 1 the weight is bounded by
//              n^(1 - 1/T) for n choices and by T^(d/2) for d Gaussian elements, so nothing is truncated. What stays: the critic
//              learns the values of the hotter policy.
import type { PpoConfig } from '../contract/ppo-config.js';
import type { ActionHead, Evaluation } from './action-head.js';
import type { EnvScores } from './env-scores.js';
import { noiseKey, noiseUniform } from './noise.js';

const EPSILON = { steady: 0.05, erratic: 0.3 } as const;
const TEMPERATURE = { steady: 1.1, erratic: 1.5 } as const;

/** Where one action is drawn from and where it goes. */
export interface ActionDraw {
  readonly outputs: Float32Array;
  /** Row of the outputs. */
  readonly at: number;
  readonly free: Float32Array;
  readonly noise: { readonly key: number; readonly envId: number; readonly draw: number };
  readonly actions: Float32Array;
  readonly actionAt: number;
}

export interface Exploration {
  /** Appends `places` places of the rollout. */
  addPlaces(places: number): void;
  /** Samples for `row`, writes the action, returns the log-probability to keep; `place` is where the sample lies in the rollout. */
  sample(head: ActionHead, draw: ActionDraw, row: number, place: number): number;
  /** pi / b by place in the rollout; null where the loss takes samples for the policy's own. */
  ratios(): Float32Array | null;
}

const between = (range: { readonly steady: number; readonly erratic: number }, score: number): number =>
  range.erratic + (range.steady - range.erratic) * score;

/** Uniform actions in between. */
function accountExploration(scores: EnvScores): Exploration {
  // Whether to explore has a stream of its own, made from the policy's: a resumed policy has another key.
  let made = -1;
  let choice = 0;
  const found: Evaluation = { logProb: 0, entropy: 0 };
  return {
    addPlaces: () => undefined,
    sample(head, { outputs, at, free, noise, actions, actionAt }, row) {
      if (noise.key !== made) {
        made = noise.key;
        choice = noiseKey(made, 'explore');
      }
      const epsilon = between(EPSILON, scores.score(row));
      if (noiseUniform(choice, noise.envId, noise.draw, 0) >= epsilon) return head.sample(outputs, at, free, noise, actions, actionAt);
      head.sampleUniform({ ...noise, key: choice }, actions, actionAt);
      head.evaluate(outputs, at, free, actions, actionAt, found);
      return found.logProb;
    },
    ratios: () => null,
  };
}

/** Hotter policies with their true probabilities. */
function temperatureExploration(scores: EnvScores): Exploration {
  let ratios = new Float32Array(0);
  const found: Evaluation = { logProb: 0, entropy: 0 };
  return {
    addPlaces(places) {
      const bigger = new Float32Array(ratios.length + places);
      bigger.set(ratios);
      ratios = bigger;
    },
    sample(head, { outputs, at, free, noise, actions, actionAt }, row, place) {
      const heated = head.heat(outputs, at, free, between(TEMPERATURE, scores.score(row)));
      const behaviour = head.sample(heated.outputs, 0, heated.free, noise, actions, actionAt);
      head.evaluate(outputs, at, free, actions, actionAt, found);
      ratios[place] = Math.exp(found.logProb - behaviour);
      return found.logProb;
    },
    ratios: () => ratios,
  };
}

/** Null for `off`. */
export function createExploration({ exploration = 'off' }: Pick<PpoConfig, 'exploration'>, scores: EnvScores | null): Exploration | null {
  if (exploration === 'off' || scores === null) return null;
  return exploration === 'account' ? accountExploration(scores) : temperatureExploration(scores);
}
