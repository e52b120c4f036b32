// Hyper-parameters of the learner, as they stand in a plan under `ppo:` and in the run record. Defaults follow the published PPO
// baselines (Schulman et al. 2017; CleanRL's ppo.py) where a wide vector env does not ask for something else.
import { z } from 'zod';

const unit = z.number().min(0).max(1);

/**
 * What a learner may do beside plain PPO, each in the form that accounts of large runs tell (`account`) and in one that keeps the objective;
 * docs/learner.md has the formulas and what each one changes. Left out is `off`: it costs nothing, and records of runs without modes stay as they were.
 */
export const ENV_WEIGHTS = ['off', 'account', 'importance'] as const;
export const REWARD_NORMS = ['off', 'account', 'return-std'] as const;
export const EXPLORATIONS = ['off', 'account', 'temperature'] as const;

const ppoFields = z.strictObject({
  /** Transitions per env and update. */
  horizon: z.int().min(1).max(4096).default(16),
  epochs: z.int().min(1).max(100).default(4),
  /** Transitions per gradient step; the last one of an epoch may be smaller. */
  minibatch: z.int().min(1).default(8192),
  gamma: unit.default(0.99),
  lambda: unit.default(0.95),
  clip: z.number().positive().default(0.2),
  /** Clip of the value function's change; 0 = off. */
  valueClip: z.number().min(0).default(0),
  entropy: z.number().min(0).default(0.01),
  valueCoef: z.number().min(0).default(0.5),
  /** Global gradient norm; 0 = off. */
  maxGradNorm: z.number().min(0).default(0.5),
  learningRate: z.number().positive().default(1e-3),
  /** `linear` falls to zero over `scheduleSteps` trained transitions. */
  schedule: z.enum(['constant', 'linear']).default('constant'),
  scheduleSteps: z.int().positive().default(10_000_000),
  /** Stops the epochs of an update once the approximate KL passes this; 0 = off. */
  targetKl: z.number().min(0).default(0.03),
  normalizeAdvantages: z.boolean().default(true),
  hidden: z.array(z.int().positive()).min(1).max(8).default([64, 64]),
  activation: z.enum(['relu', 'tanh']).default('relu'),
  /** auto: `pool` where there is an image key, else `mlp`. `cnn` needs a backend with convolution gradients. */
  encoder: z.enum(['auto', 'mlp', 'pool', 'cnn']).default('auto'),
  /** An update starts when this share of the policy's live envs has a full horizon: stragglers join a later one. */
  readyShare: z.number().gt(0).max(1).default(0.9),
  /** Largest batch of one inference; 0 = half of the live envs, so that the other half steps meanwhile. */
  batch: z.int().min(0).default(0),
  checkpointSeconds: z.number().positive().default(60),
  /** `account`: unstable envs count less in the loss. `importance`: they are drawn unevenly, and weighted so that the expected gradient stays. */
  envWeights: z.enum(ENV_WEIGHTS).optional(),
  /** `account`: (r - mean) / std per env. `return-std`: r / std of the discounted return, per mix entry. */
  rewardNorm: z.enum(REWARD_NORMS).optional(),
  /** `account`: uniform actions with a chance per env. `temperature`: a hotter policy per env, its true log-probabilities kept. */
  exploration: z.enum(EXPLORATIONS).optional(),
});

export const ppoSchema = ppoFields.superRefine((ppo, context) => {
  if (ppo.envWeights !== 'importance' || ppo.epochs > 1) return;
  const message =
    "'importance' draws unevenly from the second epoch on and does nothing with ppo.epochs 1: set ppo.epochs to 2 or more, or ppo.envWeights to off";
  context.addIssue({ code: 'custom', path: ['envWeights'], message });
});

export type PpoConfig = z.infer<typeof ppoSchema>;
