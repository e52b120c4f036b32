import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { failingIoEnv } from '../../harness/chaos/failing-io.js';
import { CHILD_EXIT } from '../../harness/contract/child-exit-codes.js';
import type { FromLearner, LearnerStart, ToLearner } from '../../harness/contract/messages.js';
import { newestCheckpoint } from '../../harness/learner/checkpoint-read.js';
import { TEST_FAULT_VARIABLE } from '../../harness/learner/test-fault.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { until } from '../fixtures/until.js';
import { createLearnerRig, unexplained } from './learner-rig.js';

const WATCHDOG = { timeout: 60_000 };
const ENTRY = fileURLToPath(new URL('../../harness/learner/entry.ts', import.meta.url));
/** Fds of the child, in the order of its stdio list. */
const FDS = { control: 4, errors: 5, segment: 6 };

/** Real learner processes over real shared memory; the test is their supervisor and their worker. */
function createProcessRig(test: TestContext) {
  const rig = createLearnerRig(test, 2, createNativeMemory());
  const start = (over: Partial<LearnerStart>, env: Record<string, string> = {}) => {
    const child: ChildProcess = fork(ENTRY, [], {
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', rig.control.fd, rig.errors.fd, rig.segment().fd],
    });
    test.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stderr?.on('data', (data: Buffer) => {
      said += data.toString();
    });
    const heard: FromLearner[] = [];
    child.on('message', (message) => heard.push(message as FromLearner));
    const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.on('exit', (code, signal) => resolve({ code, signal }));
    });
    const send = (message: ToLearner): void => void child.send(message);
    const message = rig.startMessage({ controlFd: FDS.control, errorsFd: FDS.errors, ...over });
    send({ ...message, segments: message.segments.map((segment) => ({ ...segment, fd: FDS.segment })) });
    const of = <Type extends FromLearner['type']>(type: Type) =>
      heard.filter((one): one is Extract<FromLearner, { type: Type }> => one.type === type);
    return { pid: child.pid as number, send, of, exit, said: () => said, kill: (signal: NodeJS.Signals) => child.kill(signal) };
  };
  return { ...rig, start };
}

/** TCP sockets of the process that listen. */
function listeningSockets(pid: number): string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.includes(inode ?? ''))
      .map(([, address]) => address as string),
  );
}

describe('a learner process', () => {
  it('ignores stray signals and never opens an inspector port', WATCHDOG, async (test) => {
    // Goal: FAULTS 49: SIGUSR1, SIGHUP, SIGPIPE and Ctrl-C cost nothing and open nothing.
    const rig = createProcessRig(test);
    const learner = rig.start({});
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await until(() => (learner.of('stats').at(-1)?.snapshot.updates ?? 0) > 0);
    for (const signal of ['SIGUSR1', 'SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGPIPE', 'SIGINT'] as const) learner.kill(signal);
    const seen = learner.of('stats').length;
    await until(() => learner.of('stats').length > seen + 1);
    assert.deepEqual(listeningSockets(learner.pid), []);
    assert.doesNotMatch(learner.said(), /Debugger/);
    const [before, after] = learner
      .of('stats')
      .slice(-2)
      .map(({ snapshot }) => snapshot.taken);
    assert.ok((after ?? 0) > (before ?? 0), 'it goes on');
    learner.send({ type: 'stop', deadlineMs: 10_000 });
    assert.deepEqual(await learner.exit, { code: CHILD_EXIT.stopped, signal: null });
  });

  it('writes a checkpoint and goes when SIGTERM comes from elsewhere, and a second one resumes all of it', WATCHDOG, async (test) => {
    // Goal: a polite end costs only what was open; the next life counts on and trains on.
    const folder = mkdtempSync(join(tmpdir(), 'envladder-learner-'));
    test.after(() => rmSync(folder, { recursive: true, force: true }));
    const rig = createProcessRig(test);
    const learner = rig.start({ checkpointDir: folder });
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    await until(() => (learner.of('stats').at(-1)?.snapshot.updates ?? 0) > 2);
    learner.kill('SIGTERM');
    assert.deepEqual(await learner.exit, { code: CHILD_EXIT.stopped, signal: null });
    assert.equal(learner.of('checkpoint').at(-1)?.reason, 'terminated');
    const base = learner.of('stats').at(-1)?.snapshot;
    assert.ok(base !== undefined && unexplained(base) === 0);
    const { checkpoint } = newestCheckpoint(folder);
    assert.equal(checkpoint.step, base.trained, 'nothing trained is missing in it');
    const next = rig.start({ checkpointDir: folder, resume: folder, life: 1, base, adopt: rig.allBlocks });
    await until(() => (next.of('stats').at(-1)?.snapshot.updates ?? 0) > base.updates + 2);
    for (const { snapshot } of next.of('stats')) assert.equal(unexplained(snapshot), 0);
    assert.equal(next.of('ready')[0]?.resumedFrom, checkpoint.path);
    next.send({ type: 'stop', deadlineMs: 10_000 });
    await next.exit;
    const end = next.of('stopped')[0]?.snapshot;
    assert.ok(end !== undefined && unexplained(end) === 0 && end.taken === rig.scan().taken);
  });

  it('balances after SIGKILL at any moment', WATCHDOG, async (test) => {
    // Goal: FAULTS 18 in small: what the dead one held is dropped by its successor, to the frame, in shared memory.
    const rig = createProcessRig(test);
    let base: LearnerStart['base'] = null;
    for (let life = 0; life < 3; life++) {
      const learner = rig.start({ life, base, adopt: life === 0 ? [] : rig.allBlocks });
      if (life === 0) learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
      await until(() => learner.of('stats').some(({ snapshot }) => snapshot.taken > (life + 1) * 100));
      learner.kill('SIGKILL');
      assert.equal((await learner.exit).signal, 'SIGKILL');
      for (const { snapshot } of learner.of('stats')) assert.equal(unexplained(snapshot), 0);
      base = learner.of('stats').at(-1)?.snapshot ?? null;
    }
    const last = rig.start({ life: 3, base, adopt: rig.allBlocks });
    await until(() => last.of('stats').length > 0);
    last.send({ type: 'stop', deadlineMs: 10_000 });
    await last.exit;
    const end = last.of('stopped')[0]?.snapshot;
    assert.ok(end !== undefined && unexplained(end) === 0 && end.taken === rig.scan().taken);
    assert.ok(end.dropped['learner-died'] > 0);
    assert.equal(end.outOfOrder + end.torn, 0);
  });

  it('beats natively and stands still in its loop stamp when its event loop hangs', WATCHDOG, async (test) => {
    // Goal: FAULTS 9 for the learner: blocked can be told from stopped, from outside.
    const rig = createProcessRig(test);
    const learner = rig.start({}, { [TEST_FAULT_VARIABLE]: 'freeze@2' });
    learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
    let still = rig.control.progress(1);
    let looks = 0;
    await until(() => {
      const now = rig.control.progress(1);
      // Waiting sleeps at most 20 ms: 40 looks 5 ms apart without a turn of the loop are a hang.
      looks = now.loopMs === still.loopMs && now.loopMs > 0 && now.nativeMs - now.loopMs > 200 ? looks + 1 : 0;
      still = now;
      return looks > 40;
    });
    const { nativeMs } = rig.control.progress(1);
    await until(() => rig.control.progress(1).nativeMs > nativeMs);
    learner.kill('SIGKILL');
    await learner.exit;
  });

  it(
    'dies of three bad updates with words, leaves them in the error table, and refuses a fault that it cannot read',
    WATCHDOG,
    async (test) => {
      // Goal: the supervisor learns why from the message, and from shared memory when there is none.
      const rig = createProcessRig(test);
      const learner = rig.start({}, { [TEST_FAULT_VARIABLE]: 'nan-loss@2-4' });
      learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
      assert.equal((await learner.exit).code, CHILD_EXIT.fatal);
      assert.match(learner.of('fatal')[0]?.message ?? '', /3 updates in a row/);
      assert.equal(learner.of('warning').length, 3);
      const { cells } = rig.errors.read(1);
      assert.ok(cells.some(({ exemplar }) => /the loss is NaN/.test(exemplar.message)));
      assert.ok(cells.some(({ exemplar }) => /3 updates in a row/.test(exemplar.message)));
      const mistaken = rig.start({}, { [TEST_FAULT_VARIABLE]: 'nan@2' });
      assert.equal((await mistaken.exit).code, CHILD_EXIT.fatal);
      assert.match(mistaken.of('fatal')[0]?.message ?? '', /ENVLADDER_TEST_FAULT='nan@2' is no fault/);
    },
  );

  it(
    'trains on while the disk takes its time over a checkpoint, one at a time, and says its last words without it',
    WATCHDOG,
    async (test) => {
      // Goal: FAULTS 37: a disk that hangs in fsync blocks no loop, grows no queue, and does not cost the run its counts at the end.
      const folder = mkdtempSync(join(tmpdir(), 'envladder-slow-'));
      test.after(() => rmSync(folder, { recursive: true, force: true }));
      const checkpoints = join(folder, 'checkpoints');
      const hold = join(folder, 'hold');
      const fired = join(folder, 'fired');
      writeFileSync(hold, '');
      const rig = createProcessRig(test);
      const learner = rig.start({ checkpointDir: checkpoints }, failingIoEnv({ prefix: checkpoints, at: 1, fault: 'hold', fired, hold }));
      learner.send({ type: 'grow', tier: 0, blocks: rig.allBlocks });
      const updates = (): number => learner.of('stats').at(-1)?.snapshot.updates ?? 0;
      await until(() => updates() > 0);
      learner.send({ type: 'checkpoint', reason: 'request' });
      await until(() => existsSync(fired));
      const before = updates();
      for (let i = 0; i < 5; i++) learner.send({ type: 'checkpoint', reason: 'request' });
      await until(() => updates() > before + 3);
      assert.equal(learner.of('checkpoint').length, 0, 'it is still being written');
      rmSync(hold);
      await until(() => learner.of('checkpoint').length === 2);
      assert.deepEqual(
        readdirSync(checkpoints).sort(),
        learner.of('checkpoint').map(({ path }) => basename(path)),
        'the first, and one for all who asked meanwhile',
      );
      await until(() => updates() > before + 6);
      writeFileSync(hold, '');
      learner.send({ type: 'stop', deadlineMs: 1000 });
      await until(() => learner.of('stopped').length > 0);
      assert.match(learner.of('warning').at(-1)?.message ?? '', /the last checkpoint was not written .* within 0\.\d s/);
      assert.equal(learner.of('checkpoint').length, 2);
      const end = learner.of('stopped')[0]?.snapshot;
      assert.ok(end !== undefined && unexplained(end) === 0);
      rmSync(hold);
      assert.deepEqual(await learner.exit, { code: CHILD_EXIT.stopped, signal: null });
    },
  );
});
