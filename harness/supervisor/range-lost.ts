// A seat is given up: said, and the learner lets its blocks go. With the last seat the run ends.
import { EnvladderError } from '../contract/errors.js';
import { specOf } from './block-plan.js';
import type { CrewPorts } from './crew-ports.js';
import type { LearnerPost } from './learner-post.js';
import type { WorkerPost } from './post.js';

export function rangeLost(
  post: WorkerPost,
  posts: readonly WorkerPost[],
  learner: Pick<LearnerPost, 'drop'>,
  { emit, fail }: Pick<CrewPorts, 'emit' | 'fail'>,
): void {
  const envs = post.blocks.reduce((sum, block) => sum + specOf(post.planned, block).slots, 0);
  const left = posts.filter(({ state }) => state !== 'lost').length;
  emit({
    type: 'range-lost',
    message: `worker ${post.worker} does not come back: ${envs} envs are lost, the run goes on with ${left} of ${posts.length} workers`,
    worker: post.worker,
    detail: { envs, blocks: [...post.blocks], restarts: post.restarts },
  });
  learner.drop(post.worker);
  if (left === 0) fail(new EnvladderError('worker-died', `all ${posts.length} workers are lost; see the deaths in the record`));
}
