// Starts one tier's envs beside those already running: memory first, then group by group (one group when they start in parallel) the
// learner, so that no frame waits for a row, and the workers; and times what followed, from the call on.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupsPlan } from '../contract/plan-health.js';
import { type PlannedGroup, specOf } from './block-plan.js';
import { monotonicMs } from './clock.js';
import type { CrewEvent, TierStart } from './crew.js';
import type { DormantSeats } from './dormant-seats.js';
import { type GroupPost, startGroupsWalk, type WalkGroup } from './groups-walk.js';
import type { LearnerPost } from './learner-post.js';
import type { SeatCgroup } from './seat-cgroup.js';

/** Control words are read this often while a tier fills: 7,000 slots take about 0.1 ms. */
const SCAN_INTERVAL_MS = 5;

export interface TierStartOptions {
  readonly tier: number;
  /** All groups of the run's layout. */
  readonly groups: readonly PlannedGroup[];
  readonly plan: GroupsPlan;
  /** By seat number. */
  readonly posts: readonly GroupPost[];
  readonly learner: Pick<LearnerPost, 'grow'>;
  readonly dormants: DormantSeats;
  /** By seat; null for one that shares its process or has no cgroup. */
  readonly cgroupOf: (seat: number) => SeatCgroup | null;
  /** Without a group waking: of groups in turn, each has this long. */
  readonly deadlineSeconds: number;
  /** True ends the wait early: the run failed or is being stopped. */
  readonly over: () => boolean;
  readonly onAllocated: (bytes: number) => void;
  readonly emit: (event: CrewEvent) => void;
}

const isGone = ({ state }: GroupPost): boolean => state === 'lost' || state === 'stopped';

/** The tier's groups with the seats that are there, by the order in which they wake. Groups without any are left out. */
function groupsOf({ tier, groups, posts }: TierStartOptions): WalkGroup[] {
  return groups.flatMap((group, index) => {
    if (group.tier !== tier) return [];
    const blocksOf = new Map<GroupPost, number[]>();
    for (const [seat, block] of group.blocks) {
      const post = posts[seat];
      if (post === undefined || isGone(post)) continue;
      blocksOf.set(post, [...(blocksOf.get(post) ?? []), block]);
    }
    return blocksOf.size === 0 ? [] : [{ index, envs: group.envs, seats: [...blocksOf].map(([post, blocks]) => ({ post, blocks })) }];
  });
}

/** Earlier tiers count too: an env of theirs that is being built anew is not live either. */
function isFull(posts: readonly GroupPost[]): boolean {
  return posts.every(
    (post) =>
      post.state === 'lost' ||
      post.blocks.every((block) => {
        const { live, quarantined } = post.segment.scan(block);
        return live + quarantined >= specOf(post.planned, block).slots;
      }),
  );
}

/** Throws `out-of-memory` when the tier's shared memory cannot be had. */
export async function startTier(options: TierStartOptions): Promise<TierStart> {
  const { tier, plan, posts, learner, dormants, cgroupOf, deadlineSeconds, over, onAllocated, emit } = options;
  const beganMs = monotonicMs();
  const groups = groupsOf(options);
  for (const { seats } of groups) {
    for (const { post, blocks } of seats) {
      for (const block of blocks) {
        post.segment.allocate(block, availableParallelism());
        onAllocated(post.segment.blockBytes(block));
      }
    }
  }
  let firstMs: number | null = null;
  const first = { seen: (): void => undefined };
  const seen = new Promise<void>((resolve) => {
    first.seen = resolve;
  });
  const walk = startGroupsWalk({
    groups,
    plan,
    dormants,
    cgroupOf,
    emit,
    nowMs: monotonicMs,
    tellLearner: (blocks) => {
      void learner.grow(tier, blocks).then(
        (atMs) => {
          firstMs ??= atMs;
          first.seen();
        },
        () => undefined,
      );
    },
  });
  const late = (): boolean => over() || (walk.sinceMs !== null && monotonicMs() >= walk.sinceMs + deadlineSeconds * 1000);

  let liveMs: number | null = null;
  while (!late()) {
    if (walk.turn() && isFull(posts)) {
      liveMs = monotonicMs();
      break;
    }
    await sleep(SCAN_INTERVAL_MS);
  }
  // The learner may be in the middle of an update: its word on the first batch can come later than the last env's first frame.
  while (firstMs === null && !late()) await Promise.race([seen, sleep(SCAN_INTERVAL_MS)]);
  walk.end();
  return {
    timeToFirstBatchS: firstMs === null ? null : Math.max(0, firstMs - beganMs) / 1000,
    timeToAllLiveS: liveMs === null ? null : (liveMs - beganMs) / 1000,
  };
}
