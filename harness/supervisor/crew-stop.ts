// The end of a crew, in an order that keeps the books exact: the learner settles and leaves, the workers finish their step and leave,
// whoever is late is killed, and only when the kernel has confirmed every exit are the control words read for the last time.
import type { LearnerPost } from './learner-post.js';
import type { WorkerPost } from './post.js';

/** Share of the drain that the learner has to itself (settling, the last checkpoint) before workers are told to stop regardless. */
const LEARNER_SHARE = 0.6;
/** SIGKILL takes effect at once unless the process is in an uninterruptible wait; then nobody can do more. */
const AFTER_KILL_MS = 15_000;

export interface CrewStop {
  /** Brings the deadlines forward: the second Ctrl-C. Never moves them back. */
  hurry(drainMs: number): void;
  /** Who had to be killed. Never rejects. */
  readonly done: Promise<readonly string[]>;
}

export function stopCrew(learner: LearnerPost, posts: readonly WorkerPost[], drainMs: number): CrewStop {
  const killed: string[] = [];
  const beganMs = performance.now();
  let endMs = beganMs + drainMs;
  let settleTimer: NodeJS.Timeout;
  let killTimer: NodeJS.Timeout;

  const stopWorkers = (): void => {
    for (const post of posts) post.stop();
  };
  const killAll = (): void => {
    stopWorkers();
    if (learner.pid !== null) {
      killed.push('learner');
      learner.kill('deadline');
    }
    for (const post of posts) {
      if (post.pid === null) continue;
      killed.push(`worker ${post.worker}`);
      post.destroy();
    }
  };
  const arm = (): void => {
    clearTimeout(settleTimer);
    clearTimeout(killTimer);
    const leftMs = Math.max(0, endMs - performance.now());
    settleTimer = setTimeout(stopWorkers, leftMs * LEARNER_SHARE);
    killTimer = setTimeout(killAll, leftMs);
  };

  arm();
  learner.stop(drainMs * LEARNER_SHARE);
  void learner.over.then(stopWorkers);
  const gone = Promise.all([learner.over, ...posts.map((post) => post.over)]);
  let giveUpTimer: NodeJS.Timeout;
  const stuck = new Promise<void>((resolve) => {
    giveUpTimer = setTimeout(resolve, drainMs + AFTER_KILL_MS);
  });
  const done = Promise.race([gone, stuck]).then(() => {
    clearTimeout(settleTimer);
    clearTimeout(killTimer);
    clearTimeout(giveUpTimer);
    return killed;
  });
  return {
    hurry(drainMs2) {
      const sooner = performance.now() + drainMs2;
      if (sooner >= endMs) return;
      endMs = sooner;
      arm();
    },
    done,
  };
}
