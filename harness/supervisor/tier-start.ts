// Starts one tier's envs beside those already running: memory first, then the learner (so that no frame waits for a row), then the
// workers; and times what followed, from the call on.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { specOf } from './block-plan.js';
import { monotonicMs } from './clock.js';
import type { TierStart } from './crew.js';
import type { LearnerPost } from './learner-post.js';
import type { WorkerPost } from './worker-post.js';

/** Control words are read this often while a tier fills: 7,000 slots take about 0.1 ms. */
const SCAN_INTERVAL_MS = 5;

export interface TierStartOptions {
  readonly tier: number;
  readonly posts: readonly WorkerPost[];
  readonly learner: LearnerPost;
  readonly deadlineSeconds: number;
  /** True ends the wait early: the run failed or is being stopped. */
  readonly over: () => boolean;
  readonly onAllocated: (bytes: number) => void;
}

function fills(posts: readonly WorkerPost[]): boolean {
  for (const post of posts) {
    if (post.state === 'lost') continue;
    for (const block of post.blocks) {
      const { live, quarantined } = post.segment.scan(block);
      if (live + quarantined < specOf(post.planned, block).slots) return false;
    }
  }
  return true;
}

/** Throws `out-of-memory` when the tier's shared memory cannot be had. */
export async function startTier(options: TierStartOptions): Promise<TierStart> {
  const { tier, posts, learner, deadlineSeconds, over, onAllocated } = options;
  const beganMs = monotonicMs();
  const deadlineMs = beganMs + deadlineSeconds * 1000;
  const added = new Map<WorkerPost, number[]>();
  for (const post of posts) {
    if (post.state === 'lost' || post.state === 'stopped') continue;
    const blocks = post.planned.spec.blocks.filter((_, index) => post.planned.tierOf[index] === tier).map(({ id }) => id);
    for (const block of blocks) {
      post.segment.allocate(block, availableParallelism());
      onAllocated(post.segment.blockBytes(block));
    }
    added.set(post, blocks);
  }
  let firstMs: number | null = null;
  const first = learner.grow(
    tier,
    [...added].flatMap(([post, blocks]) => blocks.map((block) => [post.worker, block] as const)),
  );
  const seen = first.then(
    (atMs) => {
      firstMs = atMs;
    },
    () => undefined,
  );
  for (const [post, blocks] of added) post.grow(blocks);

  let liveMs: number | null = null;
  while (monotonicMs() < deadlineMs && !over()) {
    if (fills(posts)) {
      liveMs = monotonicMs();
      break;
    }
    await sleep(SCAN_INTERVAL_MS);
  }
  // The learner may be in the middle of an update: its word on the first batch can come later than the last env's first frame.
  while (firstMs === null && monotonicMs() < deadlineMs && !over()) await Promise.race([seen, sleep(SCAN_INTERVAL_MS)]);
  return {
    timeToFirstBatchS: firstMs === null ? null : Math.max(0, firstMs - beganMs) / 1000,
    timeToAllLiveS: liveMs === null ? null : (liveMs - beganMs) / 1000,
  };
}
