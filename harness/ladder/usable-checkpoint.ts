// Whether a run can go on from what --resume names, looked at before the run folder exists: the learner would find out the same, with
// processes running. Shapes of networks are left to the learner, which alone has them.
import { EnvladderError } from '../contract/errors.js';
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import { spaceSignature } from '../contract/spaces.js';
import { newestCheckpoint } from '../learner/checkpoint-read.js';

/** Throws `bad-usage` without a learner that trains, `bad-checkpoint` when none is valid or holds a policy of the plan. */
export function requireUsableCheckpoint(path: string, plan: Pick<Plan, 'learner'>, entries: readonly EntryMessage[]): void {
  if (plan.learner !== 'ppo') {
    throw new EnvladderError(
      'bad-usage',
      `--resume: learner '${plan.learner}' does not train, so it cannot go on from a checkpoint; leave --resume away, or use --learner ppo`,
    );
  }
  const { checkpoint } = newestCheckpoint(path);
  const known = checkpoint.policies.map(({ state }) => state.signature);
  if (entries.some(({ spaces }) => known.includes(spaceSignature(spaces)))) return;
  throw new EnvladderError(
    'bad-checkpoint',
    `checkpoint ${checkpoint.path} holds policies for ${known.map((signature) => `'${signature}'`).join(', ')}; the plan's env kinds need none of them`,
    { detail: { path: checkpoint.path, what: 'no policy of the plan' } },
  );
}
