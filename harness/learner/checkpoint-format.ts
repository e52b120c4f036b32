// What a checkpoint folder holds. `manifest.json` lists every other file with its size and SHA-256 and carries a hash of itself, so that a
// flipped bit or a cut file anywhere is found before a single number is used. Written by checkpoint-write, read by checkpoint-read.
//
//   checkpoints/000000131072/   trained transitions when it was written
//     manifest.json             format, step, run id, policies, files, hash over all of it
//     policy-0.weights.f32      all parameters one after the other, little-endian float32, in the order of the manifest
//     policy-0.first.f32        Adam's first moments, same order
//     policy-0.second.f32       Adam's second moments
//     policy-0.modes.f32        only with learner modes: what they remember of envs and tasks (mode-memory.ts)
import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { ENV_WEIGHTS, EXPLORATIONS, REWARD_NORMS } from '../contract/ppo-config.js';

export const CHECKPOINT_FORMAT = 1;
export const MANIFEST = 'manifest.json';
/** Complete checkpoints kept in a folder. */
export const KEPT_CHECKPOINTS = 3;
/** Suffix of a folder that is still being written, or already being removed. */
export const UNFINISHED = '-tmp';

/** The float files of one policy. */
export const POLICY_PARTS = ['weights', 'first', 'second'] as const;
/** Of a policy with modes. */
export const MODES_PART = 'modes';

const count = z.number().int().nonnegative();

export const policyStateSchema = z.strictObject({
  signature: z.string(),
  activation: z.enum(['relu', 'tanh']),
  encoder: z.enum(['mlp', 'pool', 'cnn']),
  parameters: z.array(z.strictObject({ name: z.string(), shape: z.array(count) })),
  adam_step: count,
  shuffler: z.array(count).length(4),
  counters: z.strictObject({ updates: count, trained: count, gradientSteps: count }),
  /** Learner modes and what their file holds; null without modes, as in every checkpoint written before there were any. */
  normaliser: z
    .strictObject({
      env_weights: z.enum(ENV_WEIGHTS),
      reward_norm: z.enum(REWARD_NORMS),
      exploration: z.enum(EXPLORATIONS),
      envs: count,
      tasks: z.array(z.string()),
    })
    .nullable(),
});

export const manifestSchema = z.strictObject({
  format: z.literal(CHECKPOINT_FORMAT),
  run_id: z.string(),
  step: count,
  policies: z.array(policyStateSchema),
  files: z.array(z.strictObject({ name: z.string(), bytes: count, sha256: z.string() })),
});

export type PolicyState = z.infer<typeof policyStateSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** Name of the folder for `step`: sorts as it counts. */
export function checkpointName(step: number): string {
  return String(step).padStart(12, '0');
}

/** For data that comes in pieces. */
export function startSha256(): Hash {
  return createHash('sha256');
}

export function sha256(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The manifest as text, its own hash in the last line of the object. */
export function sealManifest(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: sha256(JSON.stringify(manifest)) }, null, 1)}\n`;
}
