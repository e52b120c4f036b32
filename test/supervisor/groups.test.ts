// Goal: groups wake in their order and at their time, dormant ones are built, held and let go, and nothing that breaks holds up the rest.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import type { GroupsPlan } from '../../harness/contract/plan-health.js';
import { groupsSchema } from '../../harness/contract/plan-health.js';
import type { SlotWords } from '../../harness/memory/interface.js';
import type { CrewEvent } from '../../harness/supervisor/crew.js';
import { createDormantSeats, type DormantSeats, signalGroup } from '../../harness/supervisor/dormant-seats.js';
import { isNextDue, leastFrames } from '../../harness/supervisor/groups.js';
import { type GroupPost, startGroupsWalk } from '../../harness/supervisor/groups-walk.js';
import type { SeatCgroup } from '../../harness/supervisor/seat-cgroup.js';
import { until } from '../fixtures/until.js';

const SLOTS = 3;

/** A seat of three envs in one block, of which the test decides the frames. */
interface FakePost extends GroupPost {
  readonly frames: number[];
  readonly out: Set<number>;
  state: GroupPost['state'];
  pid: number | null;
}

function fakePost(worker: number, log: string[]): FakePost {
  const frames = Array.from({ length: SLOTS }, () => 0);
  const out = new Set<number>();
  const blocks: number[] = [];
  const segment = {
    scan: () => ({
      published: frames.reduce((sum, each) => sum + each, 0),
      taken: 0,
      live: frames.filter((each, slot) => each > 0 && !out.has(slot)).length,
      quarantined: out.size,
    }),
    slotWords: (_: number, words: SlotWords) => {
      frames.forEach((each, slot) => {
        words.seq[slot] = each;
        words.retired[slot] = out.has(slot) ? 1 : 0;
      });
    },
  };
  const post = {
    worker,
    planned: { spec: { worker, blocks: [{ id: worker, firstEnvId: worker * SLOTS, slots: SLOTS }] } },
    segment,
    state: 'up',
    pid: 1000 + worker,
    blocks,
    frames,
    out,
    grow: (added: readonly number[]) => {
      blocks.push(...added);
      log.push(`grow ${worker}`);
    },
  };
  return post as unknown as FakePost;
}

interface Rig {
  readonly posts: FakePost[];
  readonly log: string[];
  readonly events: CrewEvent[];
  readonly dormants: DormantSeats;
  readonly walk: ReturnType<typeof startGroupsWalk>;
  nowMs: number;
  holds: boolean;
}

function rig(plan: Partial<GroupsPlan>, count = 3): Rig {
  const log: string[] = [];
  const events: CrewEvent[] = [];
  const state = { nowMs: 1000, holds: true };
  const dormants = createDormantSeats({
    progress: () => ({ nativeMs: 0, loopMs: 0 }),
    nowMs: () => state.nowMs,
    signal: (pid, signal) => {
      log.push(`${signal} ${pid - 1000}`);
      return state.holds;
    },
  });
  const posts = Array.from({ length: count }, (_, worker) => fakePost(worker, log));
  const walk = startGroupsWalk({
    groups: posts.map((post, index) => ({ index, envs: SLOTS, seats: [{ post, blocks: [post.worker] }] })),
    plan: groupsSchema.parse({ start: 'groups', ...plan }),
    dormants,
    cgroupOf: () => null,
    tellLearner: (blocks) => log.push(`learner ${blocks.map(([seat]) => seat).join(',')}`),
    emit: (event) => events.push(event),
    nowMs: () => state.nowMs,
  });
  return Object.assign(state, { posts, log, events, dormants, walk });
}

const step = (post: FakePost | undefined, frames: number): void => void post?.frames.fill(frames);

describe('the wake rule', () => {
  it('by steps waits for the slowest env that can still step, by seconds for the clock alone', () => {
    const words = { seq: Float64Array.of(9, 2, 0, 7), retired: Uint8Array.of(0, 0, 1, 0) };
    assert.equal(leastFrames(words, 0, 4), 2);
    assert.equal(leastFrames(words, 2, 1), Number.POSITIVE_INFINITY);
    assert.deepEqual(
      [2, 3].map((frames) => isNextDue({ wakeSteps: 3 }, 0, 1e9, () => frames)),
      [false, true],
    );
    assert.deepEqual(
      [1499, 1500].map((nowMs) => isNextDue({ wakeSeconds: 0.5 }, 1000, nowMs, () => assert.fail('frames do not count'))),
      [false, true],
    );
  });
});

describe('groups that are not started', () => {
  it('wake one after the other, each when every env of the one before has made its frames, the learner told first', () => {
    const { posts, log, walk, events } = rig({ wakeSteps: 5 });
    assert.deepEqual(log, ['learner 0', 'grow 0']);
    step(posts[0], 5);
    posts[0]?.frames.splice(1, 1, 4);
    assert.equal(walk.turn(), false);
    assert.equal(log.length, 2);
    step(posts[0], 5);
    assert.equal(walk.turn(), false);
    assert.deepEqual(log.slice(2), ['learner 1', 'grow 1']);
    step(posts[1], 5);
    assert.equal(walk.turn(), true);
    assert.deepEqual(log.slice(4), ['learner 2', 'grow 2']);
    assert.deepEqual(
      events.map(({ type, detail }) => [type, detail?.group, detail?.firstEnvId]),
      [
        ['group-woken', 0, 0],
        ['group-woken', 1, 3],
      ],
    );
    walk.end();
    assert.equal(events.at(-1)?.detail?.latencyMs, null);
  });

  it('wake on the clock, which has no deadline, and say when and how long until the first frame', () => {
    const test = rig({ wakeSeconds: 2 }, 2);
    assert.equal(test.walk.sinceMs, null);
    test.nowMs = 2999;
    test.walk.turn();
    assert.equal(test.log.length, 2);
    test.nowMs = 3000;
    assert.equal(test.walk.turn(), true);
    assert.equal(test.walk.sinceMs, 3000);
    test.nowMs = 3040;
    step(test.posts[1], 1);
    test.walk.turn();
    assert.deepEqual([test.events[0]?.detail?.afterS, test.events[0]?.detail?.latencyMs], [2, 40]);
  });

  it('do not wait for envs that are out, nor for a worker that is lost', () => {
    const { posts, log, walk } = rig({ wakeSteps: 5 });
    posts[0]?.out.add(0).add(1).add(2);
    walk.turn();
    assert.equal(log.at(-1), 'grow 1');
    const lost = posts[1];
    if (lost !== undefined) lost.state = 'lost';
    assert.equal(walk.turn(), true);
    assert.equal(log.at(-1), 'grow 2');
  });

  it('are none when the start is parallel: one group, no event', () => {
    const { log, walk, events } = rig({ start: 'parallel' }, 1);
    assert.equal(walk.turn(), true);
    walk.end();
    assert.deepEqual([log, events], [['learner 0', 'grow 0'], []]);
  });
});

describe('groups that are frozen', () => {
  it('are built ahead without the learner, stopped when all their envs stand ready, and let go in their turn', () => {
    const test = rig({ wakeSteps: 5, dormant: 'frozen' });
    const { posts, log, walk, dormants } = test;
    assert.deepEqual(log.splice(0), ['learner 0', 'grow 0', 'grow 1', 'grow 2']);
    posts[1]?.frames.fill(1, 0, 2);
    walk.turn();
    assert.deepEqual([log, dormants.has(1)], [[], false]);
    step(posts[1], 1);
    step(posts[2], 1);
    walk.turn();
    assert.deepEqual([log.splice(0), dormants.has(0), dormants.has(1), dormants.has(2)], [['SIGSTOP 1', 'SIGSTOP 2'], false, true, true]);
    step(posts[0], 5);
    walk.turn();
    assert.deepEqual(log.splice(0), ['learner 1', 'SIGCONT 1']);
    step(posts[1], 5);
    assert.equal(walk.turn(), false);
    assert.deepEqual(log, ['learner 2', 'SIGCONT 2']);
    assert.equal(walk.turn(), false, 'it is awake, but whether it is live only a new frame can say');
    posts[2]?.frames.fill(2, 0, 1);
    assert.equal(walk.turn(), true);
  });

  it('that are due before they are built go on without a sleep', () => {
    const { posts, log, walk } = rig({ wakeSteps: 5, dormant: 'frozen' }, 2);
    log.splice(0);
    step(posts[0], 5);
    walk.turn();
    step(posts[1], 1);
    walk.turn();
    assert.deepEqual(log, ['learner 1']);
  });

  it('whose worker is lost in its sleep does not hold up the end of the start', () => {
    const { posts, walk } = rig({ wakeSteps: 5, dormant: 'frozen' }, 2);
    step(posts[0], 5);
    step(posts[1], 1);
    assert.equal(walk.turn(), false);
    const lost = posts[1];
    if (lost !== undefined) lost.state = 'lost';
    assert.equal(walk.turn(), true);
  });

  it('whose process is replaced are let go, built again and stopped again', () => {
    const { posts, log, walk } = rig({ wakeSteps: 5, dormant: 'frozen' }, 2);
    const asleep = posts[1];
    if (asleep === undefined) return assert.fail('no post');
    step(asleep, 1);
    walk.turn();
    log.splice(0);
    asleep.pid = 1501;
    asleep.frames.fill(0, 0, 1);
    walk.turn();
    assert.deepEqual(log.splice(0), ['SIGCONT 1']);
    walk.turn();
    assert.deepEqual(log, []);
    step(asleep, 2);
    walk.turn();
    assert.deepEqual(log, ['SIGSTOP 501']);
  });

  it('are all let go when the start ends early, so that a stop is heard', () => {
    const { posts, log, walk, dormants } = rig({ wakeSteps: 5, dormant: 'frozen' });
    step(posts[1], 1);
    step(posts[2], 1);
    walk.turn();
    log.splice(0);
    walk.end();
    assert.deepEqual(log, ['SIGCONT 1', 'SIGCONT 2']);
    assert.equal(dormants.has(1), true, 'its stamps are as old as its sleep');
  });

  it('that cannot be held go on as they are, and one event says so', () => {
    const test = rig({ wakeSteps: 5, dormant: 'frozen' });
    test.holds = false;
    step(test.posts[1], 1);
    step(test.posts[2], 1);
    test.walk.turn();
    test.walk.turn();
    assert.deepEqual(
      test.events.map(({ type }) => type),
      ['scheduling'],
    );
    assert.deepEqual([test.dormants.has(1), test.dormants.has(2)], [false, false]);
  });
});

describe('a seat that sleeps', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  it('is dormant until its process has stamped both its stamps anew, or for five seconds more', () => {
    let nowMs = 100;
    let line = { nativeMs: 90, loopMs: 90 };
    const dormants = createDormantSeats({ progress: () => line, nowMs: () => nowMs, signal: () => true });
    const at = { seat: 4, pid: 1, cgroup: null };
    assert.equal(dormants.has(4), false);
    assert.ok(dormants.sleep('frozen', at));
    nowMs = 90_000;
    assert.equal(dormants.has(4), true);
    dormants.wake(4);
    line = { nativeMs: 90_010, loopMs: 90 };
    nowMs = 90_011;
    assert.equal(dormants.has(4), true);
    line = { nativeMs: 90_010, loopMs: 90_012 };
    assert.equal(dormants.has(4), false);
    assert.ok(dormants.sleep('frozen', at));
    dormants.wake(4);
    nowMs = 95_100;
    assert.equal(dormants.has(4), false);
  });

  it('is frozen by its cgroup when it is in one, throttled only by one with both controllers', () => {
    const calls: string[] = [];
    const group = (limits: boolean, holds = true): SeatCgroup =>
      ({
        holds: () => holds,
        freeze: (on: boolean) => calls.push(`freeze ${on}`) > 0,
        limit: (wanted: unknown) => {
          calls.push(`limit ${JSON.stringify(wanted)}`);
          return limits;
        },
      }) as unknown as SeatCgroup;
    const dormants = createDormantSeats({
      progress: () => ({ nativeMs: 0, loopMs: 0 }),
      nowMs: () => 0,
      signal: (_, signal) => calls.push(signal) > 0,
    });
    assert.ok(dormants.sleep('frozen', { seat: 0, pid: 1, cgroup: group(true) }));
    assert.ok(dormants.sleep('frozen', { seat: 1, pid: 1, cgroup: group(true, false) }));
    assert.ok(dormants.sleep('throttled', { seat: 2, pid: 1, cgroup: group(true) }));
    assert.equal(dormants.sleep('throttled', { seat: 3, pid: 1, cgroup: group(false) }), false);
    assert.equal(dormants.sleep('throttled', { seat: 4, pid: 1, cgroup: null }), false);
    dormants.wakeAll();
    assert.deepEqual(calls, [
      'freeze true',
      'SIGSTOP',
      'limit {"cpuShare":0.01,"memoryHighBytes":536870912}',
      'limit {"cpuShare":0.01,"memoryHighBytes":536870912}',
      'limit null',
      'freeze false',
      'SIGCONT',
      'limit null',
    ]);
  });

  it('without a cgroup is stopped with all that its envs started, and goes on where it was', { timeout: 30_000 }, async () => {
    // A shell that leads a group, and a child of it, as a worker and its bridge are.
    const shell = spawn('sh', ['-c', 'sleep 100 & echo $!; wait'], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(shell);
    const [line] = (await once(shell.stdout ?? shell, 'data')) as [Buffer];
    const pids = [shell.pid ?? 0, Number(line.toString())];
    const states = (): string[] => pids.map((pid) => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '');
    const dormants = createDormantSeats({ progress: () => ({ nativeMs: 0, loopMs: 0 }), nowMs: () => 0, signal: signalGroup });
    assert.ok(dormants.sleep('frozen', { seat: 0, pid: pids[0] ?? 0, cgroup: null }));
    await until(() => states().every((state) => state === 'T'));
    dormants.wake(0);
    await until(() => states().every((state) => state === 'S'));
    const exit = once(shell, 'exit');
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
    await exit;
    assert.equal(dormants.sleep('frozen', { seat: 1, pid: 2 ** 30, cgroup: null }), false);
  });
});
