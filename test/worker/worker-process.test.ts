import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { CHILD_EXIT } from '../../harness/contract/child-exit-codes.js';
import { ABANDONED } from '../../harness/contract/frame-flags.js';
import type { FromWorker, ToWorker } from '../../harness/contract/messages.js';
import type { PlanInput } from '../../harness/contract/plan.js';
import { type Child, entryUrl, spawnChild } from '../../harness/supervisor/spawn.js';
import { fdsOf } from '../fixtures/fds-of.js';
import { listen, type NativeSeats, nativeSeats } from '../fixtures/native-seats.js';
import { until } from '../fixtures/until.js';

const WATCHDOG = { timeout: 60_000 };
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

interface Rig extends NativeSeats {
  child: Child<ToWorker, FromWorker>;
  heard: FromWorker[];
  flows(frames?: number): Promise<void>;
  /** Starts the seat's next life in a fenced segment. */
  again(): void;
}
let rigs: Rig[] = [];

function fork(seats: NativeSeats): Child<ToWorker, FromWorker> {
  return spawnChild<ToWorker, FromWorker>(entryUrl('../worker/entry'), [
    seats.control.fd,
    seats.errors.fd,
    seats.segments[0]?.fd as number,
  ]);
}

async function raise(input: Partial<PlanInput>): Promise<Rig> {
  const seats = await nativeSeats({ workers: 1, tiers: [4], ...input });
  const child = fork(seats);
  const rig: Rig = {
    ...seats,
    child,
    heard: listen(child),
    again() {
      rig.fence(0, 1);
      rig.child = fork(seats);
      rig.heard = listen(rig.child);
      rig.child.channel.send(seats.start(0, { epoch: 1 }));
    },
    flows(frames = 40) {
      const from = seats.published(0);
      return until(() => {
        seats.answer();
        return seats.published(0) > from + frames;
      });
    },
  };
  child.channel.send(seats.start(0));
  rigs.push(rig);
  return rig;
}

const faulty = (...schedule: readonly Record<string, unknown>[]): Partial<PlanInput> => ({
  mix: { f: { kind: 'fault', share: 1, config: { kind: 'cartpole', schedule } } },
});
const exitAfter = async (rig: Rig): Promise<{ code: number | null; signal: string | null }> => {
  await until(() => {
    rig.answer();
    return !rig.child.alive;
  });
  return rig.child.exit;
};

/** Local addresses that a socket of the process listens on, from the kernel. */
function listening(pid: number): string[] {
  const own = new Set(fdsOf(pid).flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[3] === '0A' && own.has(words[9] as string))
      .map((words) => words[1] as string),
  );
}

describe('a worker process', { timeout: 300_000 }, () => {
  afterEach(async () => {
    for (const rig of rigs) {
      rig.child.kill('SIGKILL');
      await rig.child.exit;
      rig.close();
    }
    rigs = [];
  });

  it('ends on SIGTERM as on a stop: finishes its step, closes its envs, says goodbye, code 0', WATCHDOG, async () => {
    // Goal: SIGTERM is a request, obeyed at once.
    const rig = await raise({ mix: { cartpole: 1 } });
    await rig.flows();
    rig.child.kill('SIGTERM');
    const end = await rig.child.exit;
    assert.deepEqual([end.code, end.signal], [CHILD_EXIT.stopped, null]);
    const last = rig.heard.at(-1);
    assert.equal(last?.type === 'stopped' ? last.frames : -1, rig.published(0));
  });

  it('ends on SIGTERM before it was told to start, and while it builds', WATCHDOG, async () => {
    // Goal: no moment after the boot in which SIGTERM is lost.
    const seats = await nativeSeats({ workers: 1, tiers: [4], mix: { patient: 1 } });
    const idle = fork(seats);
    rigs.push({ ...seats, child: idle, heard: [], flows: async () => undefined, again: () => undefined, close: () => undefined });
    // Its handlers are there once the kernel shows SIGHUP as caught (bit 0); SIGTERM and SIGINT have handlers of Node's own from the start.
    await until(() => {
      const caught = /SigCgt:\s+([0-9a-f]+)/.exec(readFileSync(`/proc/${idle.pid}/status`, 'utf8'))?.[1] as string;
      return (BigInt(`0x${caught}`) & 1n) !== 0n;
    });
    idle.kill('SIGTERM');
    assert.equal((await idle.exit).code, CHILD_EXIT.stopped);
    const rig = await raise({ mix: { patient: 1 } });
    await rig.flows(8);
    rig.child.kill('SIGTERM');
    assert.equal((await rig.child.exit).code, CHILD_EXIT.stopped);
  });

  it('does not mind SIGUSR1, SIGINT, SIGHUP and SIGPIPE, and opens no inspector port', WATCHDOG, async () => {
    // Goal: a stray signal changes nothing; SIGUSR1 never opens a debugger.
    const rig = await raise({ mix: { cartpole: 1 } });
    await rig.flows();
    for (const signal of ['SIGUSR1', 'SIGINT', 'SIGHUP', 'SIGPIPE', 'SIGUSR1'] as const) rig.child.kill(signal);
    await rig.flows(200);
    assert.deepEqual(listening(rig.child.pid as number), []);
    assert.doesNotMatch(rig.child.outputTail(), /Debugger listening/);
    rig.child.channel.send({ type: 'stop' });
    assert.equal((await rig.child.exit).code, 0);
  });

  it('beats, turns its loop and dates its work on CLOCK_MONOTONIC', WATCHDOG, async () => {
    // Goal: three stamps that mean what they say: the native one goes on in a spin, the loop's does not, the op's is its start.
    const startedMs = monotonicMs();
    // One env: with more of them, one that is ahead would come to its third step while others are awaited.
    const rig = await raise({ ...faulty({ fault: 'spin', atStep: 3, envIds: [0] }), tiers: [1] });
    await until(() => {
      if (rig.published(0) < 3) rig.answer();
      return rig.published(0) === 3;
    });
    // Idle for a while, so that the stamps of before are told from that of the step that hangs.
    const idle = rig.control.progress(0);
    await until(() => rig.control.progress(0).loopMs > idle.loopMs + 300);
    await until(() => {
      rig.answer();
      const { op, envId, opMs } = rig.control.progress(0);
      return op === 'step' && envId === 0 && monotonicMs() - opMs > 300;
    });
    const hung = rig.control.progress(0);
    assert.ok(hung.opMs > startedMs && hung.loopMs > startedMs && hung.loopMs <= hung.opMs + 5, JSON.stringify(hung));
    await until(() => rig.control.progress(0).nativeMs > hung.nativeMs + 100);
    const later = rig.control.progress(0);
    assert.deepEqual([later.opMs, later.loopMs], [hung.opMs, hung.loopMs]);
  });

  it('shows a blocked event loop as a stale loop stamp with no env in work', WATCHDOG, async () => {
    // Goal: a spin outside of any operation is told from a hung env.
    const rig = await raise(faulty({ fault: 'block', atStep: 3, envIds: [2] }));
    await until(() => {
      rig.answer();
      const { op, loopMs, nativeMs } = rig.control.progress(0);
      return op === 'idle' && loopMs > 0 && nativeMs - loopMs > 300;
    });
    assert.equal(rig.control.progress(0).envId, -1);
  });

  it('keeps turning its loop while it has nothing to do', WATCHDOG, async () => {
    // Goal: waiting for actions is no fault.
    const rig = await raise({ mix: { cartpole: 1 } });
    await until(() => rig.published(0) === 4);
    for (let i = 0; i < 5; i++) {
      const { loopMs } = rig.control.progress(0);
      await until(() => rig.control.progress(0).loopMs > loopMs);
    }
    assert.equal(rig.published(0), 4);
  });

  it('reports memory, files, lag and frames each second', WATCHDOG, async () => {
    // Goal: the application's own view.
    const rig = await raise({ mix: { cartpole: 1 } });
    const reports = () => rig.heard.flatMap((message) => (message.type === 'report' ? [message.report] : []));
    await until(() => {
      rig.answer();
      return reports().length >= 2;
    });
    for (const report of reports()) {
      assert.ok(report.rssBytes > 10e6 && report.heapBytes > 1e6 && report.fds >= 7 && report.loopLagMsMax > 0, JSON.stringify(report));
    }
    assert.ok((reports()[1]?.frames ?? 0) > 0);
  });

  it('leaves the error it dies of, and those of its envs, in a table that outlives it', WATCHDOG, async () => {
    // Goal: exact counts survive any death.
    const rig = await raise({ mix: { 'late-boom': 1 } });
    const end = await exitAfter(rig);
    assert.equal(end.code, 1);
    const { cells } = rig.errors.read(0);
    const fatal = cells.find(({ exemplar }) => exemplar.message === 'RangeError: nobody awaits this');
    assert.deepEqual([fatal?.count, fatal?.exemplar.operation, fatal?.envIds], [1, 'idle', []]);
    assert.match(fatal?.exemplar.stack ?? '', /worker-kinds/);
    const thrown = cells.find(({ exemplar }) => exemplar.message === 'Error: first this');
    assert.deepEqual([thrown?.count, thrown?.envIds, thrown?.exemplar.entry], [1, [0], 'late-boom']);
  });

  it('stopped half-way through a frame and killed: the last whole frame stays, the half one is never seen', WATCHDOG, async () => {
    // Goal: a death inside a write costs the frame, nothing else; the next life begins with abandoned frames.
    const rig = await raise(faulty({ fault: 'pause', atStep: 5, envIds: [2], onlyEpoch: 0 }));
    const state = (): string => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${rig.child.pid}/status`, 'utf8'))?.[1] as string;
    await until(() => {
      rig.answer();
      return state() === 'T';
    });
    const segment = rig.segments[0] as (typeof rig.segments)[0];
    const block = segment.spec.blocks[0]?.id as number;
    const before = segment.peek(block, 2, 'vector');
    assert.equal(before?.seq, 5, 'a reset and four steps');
    rig.child.kill('SIGKILL');
    assert.equal((await rig.child.exit).signal, 'SIGKILL');
    assert.deepEqual(segment.peek(block, 2, 'vector'), before);
    rig.again();
    let lost = 0;
    await until(() => {
      lost += rig.answer().filter(([, flags]) => (flags & ABANDONED) !== 0).length;
      return lost === 4;
    });
    await rig.flows();
  });
});
