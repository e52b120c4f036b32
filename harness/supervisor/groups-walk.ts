// Takes the groups of one tier through their start: the first at once, each further one when it is due. What may be built ahead is built and
// put to sleep meanwhile. Looked at every few milliseconds by the tier start; emits `group-woken` when a woken group has made its next frame.
import type { GroupsPlan } from '../contract/plan-health.js';
import type { SlotWords } from '../memory/interface.js';
import { specOf } from './block-plan.js';
import type { CrewEvent } from './crew.js';
import type { DormantSeats } from './dormant-seats.js';
import { isNextDue, leastFrames } from './groups.js';
import type { WorkerPost } from './post.js';
import type { SeatCgroup } from './seat-cgroup.js';

export type GroupPost = Pick<WorkerPost, 'worker' | 'planned' | 'segment' | 'state' | 'pid' | 'blocks' | 'grow'>;

/** A group with its seats, without those that are gone. */
export interface WalkGroup {
  /** Number in the run. */
  readonly index: number;
  readonly envs: number;
  readonly seats: readonly { readonly post: GroupPost; readonly blocks: readonly number[] }[];
}

export interface GroupsWalkOptions {
  readonly groups: readonly WalkGroup[];
  readonly plan: GroupsPlan;
  readonly dormants: DormantSeats;
  /** By seat. */
  readonly cgroupOf: (seat: number) => SeatCgroup | null;
  /** Lets the learner read the group's blocks. */
  readonly tellLearner: (blocks: readonly (readonly [number, number])[]) => void;
  readonly emit: (event: CrewEvent) => void;
  readonly nowMs: () => number;
}

export interface GroupsWalk {
  /** Wakes what is due and puts to sleep what is built. True once every group is awake, and those built ahead have moved on. */
  turn(): boolean;
  /** When the newest group woke: the patience of the start counts from there. Null while the next one waits for a clock. */
  readonly sinceMs: number | null;
  /** Ends the walk: whoever still sleeps is let go. */
  end(): void;
}

interface Walked extends WalkGroup {
  readonly firstEnvId: number;
  state: 'cold' | 'building' | 'asleep' | 'woken' | 'moved';
  wokenMs: number;
  /** Its frames at that moment. */
  framesThen: number;
  /** Process that was put to sleep in each seat. */
  readonly pids: Map<number, number | null>;
}

const isGone = ({ state }: GroupPost): boolean => state === 'lost' || state === 'stopped';

function isFull({ seats }: WalkGroup): boolean {
  return seats.every(
    ({ post, blocks }) =>
      isGone(post) ||
      blocks.every((block) => {
        const { live, quarantined } = post.segment.scan(block);
        return live + quarantined >= specOf(post.planned, block).slots;
      }),
  );
}

function sumFrames({ seats }: WalkGroup): number {
  return seats.reduce((sum, { post, blocks }) => sum + blocks.reduce((all, block) => all + post.segment.scan(block).published, 0), 0);
}

/** Frames of the group's slowest env; Infinity when nobody is left in it. */
function slowest({ seats }: WalkGroup): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { post, blocks } of seats) {
    if (isGone(post)) continue;
    for (const block of blocks) {
      const { slots } = specOf(post.planned, block);
      const words: SlotWords = {
        seq: new Float64Array(slots),
        epoch: new Uint32Array(slots),
        owed: new Uint8Array(slots),
        retired: new Uint8Array(slots),
      };
      post.segment.slotWords(block, words, 0);
      least = Math.min(least, leastFrames(words, 0, slots));
    }
  }
  return least;
}

/** A group that was built ahead has had frames before it woke: only a new one shows that it is live. Unless nobody is left to make one. */
function isOnItsWay(group: Walked): boolean {
  return group.state === 'moved' || group.framesThen === 0 || slowest(group) === Number.POSITIVE_INFINITY;
}

export function startGroupsWalk(options: GroupsWalkOptions): GroupsWalk {
  const { plan, dormants, cgroupOf, tellLearner, emit, nowMs } = options;
  const beganMs = nowMs();
  const inTurn = plan.start === 'groups';
  const how = inTurn && plan.dormant !== 'not-started' ? plan.dormant : null;
  const groups = options.groups.map((group): Walked => {
    const [first] = group.seats;
    const firstEnvId = first === undefined ? 0 : specOf(first.post.planned, first.blocks[0] ?? 0).firstEnvId;
    return { ...group, firstEnvId, state: 'cold', wokenMs: 0, framesThen: 0, pids: new Map() };
  });
  let awake = 0;
  let unheld = false;

  function build(group: Walked): void {
    for (const { post, blocks } of group.seats) post.grow(blocks);
    group.state = 'building';
  }

  /** Holds a group that stands ready: its envs have made their first frame, which nobody answers before it wakes. */
  function sleep(group: Walked): void {
    if (how === null || unheld || !isFull(group)) return;
    const seats = group.seats.filter(({ post }) => !isGone(post));
    // The frames may be those of an earlier life: the one that boots now must get as far as hearing commands, or it would be taken for late.
    if (seats.some(({ post }) => post.state !== 'up')) return;
    for (const { post } of seats) group.pids.set(post.worker, post.pid);
    const held = seats.every(
      ({ post }) => post.pid !== null && dormants.sleep(how, { seat: post.worker, pid: post.pid, cgroup: cgroupOf(post.worker) }),
    );
    if (held) {
      group.state = 'asleep';
      return;
    }
    for (const { post } of seats) dormants.wake(post.worker);
    unheld = true;
    emit({ type: 'scheduling', message: `dormant groups cannot be ${how} on this machine: they wait as they are`, detail: { asked: how } });
  }

  /** A process that ended in its sleep is replaced by one that has to build first. */
  function rouseReplaced(group: Walked): void {
    const seats = group.seats.filter(({ post }) => !isGone(post));
    if (seats.every(({ post }) => post.pid === group.pids.get(post.worker))) return;
    for (const { post } of group.seats) dormants.wake(post.worker);
    group.state = 'building';
  }

  function wake(group: Walked): void {
    group.wokenMs = nowMs();
    group.framesThen = sumFrames(group);
    // The learner first, so that no frame waits for a row.
    tellLearner(group.seats.flatMap(({ post, blocks }) => (isGone(post) ? [] : blocks.map((block) => [post.worker, block] as const))));
    if (group.state === 'cold') for (const { post, blocks } of group.seats) post.grow(blocks);
    for (const { post } of group.seats) dormants.wake(post.worker);
    group.state = 'woken';
    awake++;
  }

  function tellMoved(group: Walked, latencyMs: number | null): void {
    group.state = 'moved';
    if (!inTurn) return;
    const afterS = (group.wokenMs - beganMs) / 1000;
    const last = group.firstEnvId + group.envs - 1;
    emit({
      type: 'group-woken',
      message: `group ${group.index} (envs ${group.firstEnvId} to ${last}) woke after ${afterS.toFixed(3)} s, ${latencyMs === null ? 'and has made no frame yet' : `its first frame came ${latencyMs.toFixed(0)} ms later`}`,
      envId: group.firstEnvId,
      detail: { group: group.index, firstEnvId: group.firstEnvId, envs: group.envs, afterS, latencyMs, dormant: plan.dormant },
    });
  }

  const first = groups[0];
  if (first !== undefined) wake(first);
  if (how !== null) for (const group of groups.slice(1)) build(group);

  return {
    turn() {
      for (const group of groups) {
        if (group.state === 'building') sleep(group);
        else if (group.state === 'asleep') rouseReplaced(group);
        else if (group.state === 'woken' && sumFrames(group) > group.framesThen) tellMoved(group, nowMs() - group.wokenMs);
      }
      const before = groups[awake - 1];
      const next = groups[awake];
      if (next !== undefined && before !== undefined && isNextDue(plan, before.wokenMs, nowMs(), () => slowest(before))) wake(next);
      return awake === groups.length && groups.every(isOnItsWay);
    },
    get sinceMs() {
      return awake < groups.length && plan.wakeSeconds !== undefined ? null : (groups[awake - 1]?.wokenMs ?? beganMs);
    },
    end() {
      for (const group of groups) {
        if (group.state === 'woken') tellMoved(group, sumFrames(group) > group.framesThen ? nowMs() - group.wokenMs : null);
      }
      dormants.wakeAll();
    },
  };
}
