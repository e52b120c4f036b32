// Looks at every worker's progress words a few times per deadline and kills the one that hangs, stopped processes included: SIGKILL needs
// no cooperation. What follows (report, restart, giving up) is the post's business, as for any death.
import type { Control } from '../memory/interface.js';
import { monotonicMs } from './clock.js';
import type { CrewEvent } from './crew.js';
import { createStallJudge } from './stall-judge.js';
import type { WorkerPost } from './worker-post.js';

const LOOKS_PER_DEADLINE = 8;
const LONGEST_INTERVAL_MS = 500;
const SHORTEST_INTERVAL_MS = 10;

export interface CrewWatchOptions {
  readonly posts: readonly WorkerPost[];
  readonly control: Control;
  readonly deadlineSeconds: number;
  readonly emit: (event: CrewEvent) => void;
}

/** Starts watching; the returned function ends it. */
export function watchCrew({ posts, control, deadlineSeconds, emit }: CrewWatchOptions): () => void {
  const deadlineMs = deadlineSeconds * 1000;
  const intervalMs = Math.max(SHORTEST_INTERVAL_MS, Math.min(LONGEST_INTERVAL_MS, deadlineMs / LOOKS_PER_DEADLINE));
  const judge = createStallJudge(deadlineMs, intervalMs);
  let lastMs = monotonicMs();
  const timer = setInterval(() => {
    const nowMs = monotonicMs();
    const elapsedMs = nowMs - lastMs;
    lastMs = nowMs;
    for (const post of posts) {
      if (post.state !== 'up') {
        judge.forget(post.worker);
        continue;
      }
      const progress = control.progress(post.worker);
      if (!judge.observe(post.worker, progress, elapsedMs)) continue;
      judge.forget(post.worker);
      const where = progress.envId >= 0 ? `${progress.op} of env ${progress.envId}` : progress.op;
      emit({
        type: 'warning',
        message: `worker ${post.worker} made no progress for ${deadlineSeconds} s (${where}): it is killed`,
        worker: post.worker,
      });
      post.kill('deadline');
    }
  }, intervalMs);
  return () => clearInterval(timer);
}
