// Resuming, as the learner sees it while it builds its policies: each new policy asks for its state by signature. A policy that the
// checkpoint does not know starts fresh, with a warning; a checkpoint that no policy wanted is a mistake.
import { EnvladderError } from '../contract/errors.js';
import { newestCheckpoint, restorePolicy } from './checkpoint-read.js';
import type { Policy } from './policy.js';

export interface Resume {
  /** The checkpoint in use, or null. */
  readonly path: string | null;
  restore(policy: Policy): void;
  /** After all policies were made. Throws `bad-checkpoint` when none of them was in it. */
  check(): void;
}

/** Opens `path` (a checkpoint, a folder of them, or a run folder); null resumes nothing. Throws `bad-checkpoint`. */
export function openResume(path: string | null, warn: (message: string) => void): Resume {
  if (path === null) return { path: null, restore: () => undefined, check: () => undefined };
  const { checkpoint, skipped } = newestCheckpoint(path);
  for (const { path: where, reason } of skipped) warn(`checkpoint ${where} was skipped: ${reason}`);
  let restored = 0;
  return {
    path: checkpoint.path,
    restore(policy) {
      const stored = checkpoint.policies.find(({ state }) => state.signature === policy.signature);
      if (stored === undefined) {
        warn(`checkpoint ${checkpoint.path} has no policy for '${policy.signature}': it starts fresh`);
        return;
      }
      const differ = restorePolicy(policy, stored, checkpoint.path);
      if (differ.length > 0) {
        warn(
          `checkpoint ${checkpoint.path} was trained with other modes (${differ.join('; ')}): what they remembered starts fresh, and after a change of reward_norm the critic must learn values of another scale`,
        );
      }
      restored++;
    },
    check() {
      if (restored > 0) return;
      const known = checkpoint.policies.map(({ state }) => `'${state.signature}'`).join(', ');
      throw new EnvladderError(
        'bad-checkpoint',
        `checkpoint ${checkpoint.path} holds policies for ${known}; the plan's env kinds need none of them`,
        {
          detail: { path: checkpoint.path, what: 'no policy of the plan' },
        },
      );
    },
  };
}
