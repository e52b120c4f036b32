// The clipped PPO objective of one minibatch and its gradient with respect to the network's outputs, in plain numbers: one pass over the
// samples gives loss, gradient, KL and clip share, whatever the backend, and finite differences can check it. Pure.
// Schulman, Wolski, Dhariwal, Radford, Klimov 2017, "Proximal Policy Optimization Algorithms", eq. 7 and 9; the KL estimate is
// (r - 1) - log r (Schulman 2020, "Approximating KL Divergence").
import type { PpoConfig } from '../contract/ppo-config.js';
import type { ActionHead, Evaluation } from './action-head.js';

export type LossCoefficients = Pick<PpoConfig, 'clip' | 'valueClip' | 'entropy' | 'valueCoef'>;

/** One minibatch; arrays may be longer than `count` samples. */
export interface LossSamples {
  readonly count: number;
  readonly actions: Float32Array;
  readonly logProbs: Float32Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  /** V(s) when the action was taken, for the value clip. */
  readonly values: Float32Array;
  /** How much each sample counts in every term; left out, all count 1. */
  readonly weights?: Float32Array | null;
  /** pi / behaviour where samples were drawn from another policy than the one that is trained: a factor of the policy term. */
  readonly ratios?: Float32Array | null;
}

/** Means over the minibatch: weighted as the gradient is; KL and clip share as the samples are. */
export interface LossTerms {
  total: number;
  policy: number;
  value: number;
  entropy: number;
  kl: number;
  clipShare: number;
}

export interface LossGradient {
  readonly dOutputs: Float32Array;
  readonly dValues: Float32Array;
  /** Of the head's free parameters; overwritten. */
  readonly dFree: Float64Array;
}

/**
 * total = mean(max(-A r, -A clip(r, 1 - c, 1 + c))) + valueCoef * mean(0.5 (V - R)^2) - entropy * mean(H). `outputs` and `newValues` are the
 * network's, `free` the head's own parameters. Gradients are of `total`. With weights w the means are sum(w x) / count, with ratios the policy
 * term's are sum(w ratio x) / count: what they mean for the objective is the business of who makes them.
 */
export function ppoLoss(
  head: ActionHead,
  coefficients: LossCoefficients,
  samples: LossSamples,
  outputs: Float32Array,
  newValues: Float32Array,
  free: Float32Array,
  gradient: LossGradient,
): LossTerms {
  const { count, actions, logProbs, advantages, returns, values, weights = null, ratios = null } = samples;
  const { clip, valueClip, entropy, valueCoef } = coefficients;
  const { dOutputs, dValues, dFree } = gradient;
  const terms: LossTerms = { total: 0, policy: 0, value: 0, entropy: 0, kl: 0, clipShare: 0 };
  const at: Evaluation = { logProb: 0, entropy: 0 };
  const share = 1 / count;
  dFree.fill(0);
  for (let i = 0; i < count; i++) {
    head.evaluate(outputs, i, free, actions, i * head.actionLength, at);
    const logRatio = at.logProb - (logProbs[i] as number);
    const ratio = Math.exp(logRatio);
    const advantage = advantages[i] as number;
    const clipped = Math.min(1 + clip, Math.max(1 - clip, ratio));
    const plain = -advantage * ratio;
    const bounded = -advantage * clipped;
    // Without weights these are factors of one: they change no bit.
    const weight = weights === null ? 1 : (weights[i] as number);
    const policyWeight = ratios === null ? weight : weight * (ratios[i] as number);
    terms.policy += policyWeight * Math.max(plain, bounded);
    terms.entropy += weight * at.entropy;
    terms.kl += ratio - 1 - logRatio;
    if (clipped !== ratio) terms.clipShare++;
    // The clipped branch is constant in the ratio: no gradient there.
    head.backward(i, plain >= bounded ? policyWeight * plain * share : 0, -entropy * weight * share, dOutputs, dFree);

    const value = newValues[i] as number;
    const error = value - (returns[i] as number);
    let squared = error * error;
    let slope = error;
    if (valueClip > 0) {
      const old = values[i] as number;
      const near = old + Math.min(valueClip, Math.max(-valueClip, value - old));
      const nearError = near - (returns[i] as number);
      if (nearError * nearError > squared) {
        squared = nearError * nearError;
        slope = near === value ? nearError : 0;
      }
    }
    terms.value += weight * 0.5 * squared;
    dValues[i] = valueCoef * slope * weight * share;
  }
  for (const term in terms) terms[term as keyof LossTerms] *= share;
  terms.total = terms.policy + valueCoef * terms.value - entropy * terms.entropy;
  return terms;
}
