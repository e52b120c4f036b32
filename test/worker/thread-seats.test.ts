import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { ABANDONED } from '../../harness/contract/frame-flags.js';
import { entryUrl } from '../../harness/supervisor/spawn.js';
import { createThreadHost, type ThreadHost } from '../../harness/supervisor/thread-seats.js';
import { isRunning } from '../fixtures/is-running.js';
import { listen, type NativeSeats, nativeSeats } from '../fixtures/native-seats.js';
import { until } from '../fixtures/until.js';

const WATCHDOG = { timeout: 60_000 };
const GRACE_MS = 10_000;

interface Rig {
  readonly seats: NativeSeats;
  readonly host: ThreadHost;
}
let rigs: Rig[] = [];

async function raise(schedule: readonly Record<string, unknown>[], graceMs = GRACE_MS, workers = 2): Promise<Rig> {
  const seats = await nativeSeats({
    tiers: [8],
    workers,
    mix: { f: { kind: 'fault', share: 1, config: { kind: 'cartpole', schedule: [...schedule, { fault: 'throw', probability: 0 }] } } },
  });
  const host = createThreadHost({
    entry: entryUrl('../worker/thread-host'),
    sharedFds: [seats.control.fd, seats.errors.fd],
    segmentFds: new Map(seats.segments.map((segment, seat) => [seat, () => segment.fd])),
    graceMs,
  });
  const rig = { seats, host };
  rigs.push(rig);
  return rig;
}

function launch({ seats, host }: Rig, seat: number, epoch = 0) {
  const child = host.spawn(seat);
  const heard = listen(child);
  child.channel.send(seats.start(seat, { epoch, segmentFd: host.segmentFd(seat) }));
  return { child, heard };
}

const flows = async ({ seats }: Rig, seat: number, frames = 40): Promise<void> => {
  const from = seats.published(seat);
  await until(() => {
    seats.answer();
    return seats.published(seat) > from + frames;
  });
};

describe('thread seats', { timeout: 300_000 }, () => {
  afterEach(async () => {
    for (const { seats, host } of rigs) {
      const { pid } = host;
      if (pid !== null) process.kill(pid, 'SIGKILL');
      await until(() => host.pid === null);
      seats.close();
    }
    rigs = [];
  });

  it('run in one process, step, and leave it when all have stopped', WATCHDOG, async () => {
    // Goal: a thread is a worker to both sides, and nothing is left after the last of them.
    const rig = await raise([]);
    const [a, b] = [launch(rig, 0), launch(rig, 1)];
    assert.equal(a.child.pid, b.child.pid);
    await flows(rig, 0);
    await flows(rig, 1);
    assert.deepEqual(
      [a.heard[0], b.heard[0]],
      [0, 1].map(() => ({ type: 'ready', pid: a.child.pid })),
    );
    const { nativeMs, loopMs } = rig.seats.control.progress(1);
    assert.ok(nativeMs > 0 && loopMs > 0);
    a.child.channel.send({ type: 'stop' });
    assert.deepEqual({ ...(await a.child.exit), outputTail: '' }, { code: 0, signal: null, cause: 'exit code 0', outputTail: '' });
    assert.equal(a.heard.at(-1)?.type, 'stopped');
    await flows(rig, 1);
    b.child.kill('SIGTERM');
    assert.equal((await b.child.exit).code, 0);
    assert.equal(b.heard.at(-1)?.type, 'stopped');
    assert.equal(isRunning(a.child.pid as number), false, 'the host left with its last thread');
  });

  it('a thread that spins for ever is killed alone, and its seat gets a new thread in the same host', WATCHDOG, async () => {
    // Goal: terminate cures a spin; the neighbour thread goes on; the new life begins with abandoned frames.
    const rig = await raise([{ fault: 'spin', atStep: 3, envIds: [2], onlyEpoch: 0 }]);
    const [a, b] = [launch(rig, 0), launch(rig, 1)];
    await until(() => {
      rig.seats.answer();
      const { op, envId, opMs, loopMs } = rig.seats.control.progress(0);
      return op === 'step' && envId === 2 && Number(process.hrtime.bigint()) / 1e6 - Math.max(opMs, loopMs) > 200;
    });
    await flows(rig, 1);
    a.child.kill('SIGKILL');
    const end = await a.child.exit;
    assert.deepEqual([end.code, end.signal, end.cause, a.child.alive, b.child.alive], [null, 'SIGKILL', 'SIGKILL', false, true]);
    const { nativeMs } = rig.seats.control.progress(0);
    await flows(rig, 1, 400);
    assert.equal(rig.seats.control.progress(0).nativeMs, nativeMs, 'a dead thread beats no more');
    rig.seats.fence(0, 1);
    const again = launch(rig, 0, 1);
    assert.equal(again.child.pid, b.child.pid);
    let abandoned = 0;
    await until(() => {
      abandoned += rig.seats.answer().filter(([seat, flags]) => seat === 0 && (flags & ABANDONED) !== 0).length;
      return abandoned === 4;
    });
    await flows(rig, 0);
  });

  it('an exit ends its thread alone, with its code', WATCHDOG, async () => {
    // Goal: process.exit in an env costs one seat.
    const rig = await raise([{ fault: 'exit', atStep: 2, envIds: [1], code: 9 }]);
    const [a, b] = [launch(rig, 0), launch(rig, 1)];
    await until(() => {
      rig.seats.answer();
      return !a.child.alive;
    });
    const end = await a.child.exit;
    assert.deepEqual([end.code, end.signal, end.cause], [9, null, 'exit code 9']);
    await flows(rig, 1);
    assert.equal(b.child.alive, true);
  });

  it('an error that nobody catches is an exit with code 1, told in its last words', WATCHDOG, async () => {
    // Goal: what ends a thread is judged like what ends a process.
    const folder = mkdtempSync(join(tmpdir(), 'envladder-thrower-'));
    const module = join(folder, 'thrower.mjs');
    writeFileSync(module, "setTimeout(() => { throw new TypeError('boom'); }, 1); await new Promise(() => undefined);");
    const rig = await raise([]);
    const child = rig.host.spawn(0);
    child.channel.send(rig.seats.start(0, { segmentFd: rig.host.segmentFd(0), module }));
    const end = await child.exit;
    rmSync(folder, { recursive: true });
    assert.deepEqual([end.code, end.signal, end.cause], [1, null, 'exit code 1']);
    assert.match(end.outputTail, /TypeError: boom/);
  });

  it('a segmentation fault takes the host and all its seats, each told why; the next spawn raises a new host', WATCHDOG, async () => {
    // Goal: what a thread cannot hold is known as the host's death.
    const rig = await raise([{ fault: 'segfault', atStep: 2, envIds: [1], onlyEpoch: 0 }]);
    const [a, b] = [launch(rig, 0), launch(rig, 1)];
    await until(() => {
      rig.seats.answer();
      return !a.child.alive;
    });
    for (const { child } of [a, b]) {
      const end = await child.exit;
      assert.deepEqual([end.signal, end.cause], ['SIGSEGV', 'thread host: SIGSEGV']);
    }
    for (const seat of [0, 1]) rig.seats.fence(seat, 1);
    const again = launch(rig, 0, 1);
    assert.notEqual(again.child.pid, a.child.pid);
    await flows(rig, 0);
  });

  it('a host that does not confirm a kill within the grace is killed itself', WATCHDOG, async () => {
    // Goal: a thread stuck in native code (here: the whole host is stopped) cannot outlive its kill.
    const rig = await raise([], 300);
    const [a, b] = [launch(rig, 0), launch(rig, 1)];
    await flows(rig, 0);
    await flows(rig, 1);
    a.child.kill('SIGSTOP');
    a.child.kill('SIGKILL');
    for (const { child } of [a, b]) assert.match((await child.exit).cause, /thread 0 did not end within 300 ms/);
    assert.equal(isRunning(a.child.pid as number), false);
  });

  it('says what an env printed and what killed its thread', WATCHDOG, async () => {
    // Goal: last words of a thread are kept like those of a process.
    const seats = await nativeSeats({ tiers: [2], workers: 1, mix: { chatty: 1 } });
    const host = createThreadHost({
      entry: entryUrl('../worker/thread-host'),
      sharedFds: [seats.control.fd, seats.errors.fd],
      segmentFds: new Map([[0, () => (seats.segments[0] as (typeof seats.segments)[0]).fd]]),
      graceMs: GRACE_MS,
    });
    const rig = { seats, host };
    rigs.push(rig);
    const { child } = launch(rig, 0);
    await until(() => {
      seats.answer();
      return !child.alive;
    });
    const end = await child.exit;
    assert.equal(end.code, 9);
    assert.match(end.outputTail, /goodbye on std/);
  });
});
