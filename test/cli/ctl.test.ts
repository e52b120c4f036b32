// Goal: `envladder ctl` finds the run that is alive, says what it answers, and ends with a clear error for everything else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type ControlSocket, openControlSocket } from '../../harness/bus/control-socket.js';
import type { Obey } from '../../harness/bus/obey-once.js';
import { readWords } from '../../harness/cli/ctl-command.js';
import { statusText } from '../../harness/cli/ctl-text.js';
import { type CtlAnswer, ctlCommandSchema } from '../../harness/contract/ctl.js';
import { type CtlStatus, ctlStatusSchema } from '../../harness/contract/ctl-status.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { type FolderLock, isLock, takeLock } from '../../harness/store/folder-lock.js';
import { runCli } from './run-cli.js';

const RUN: CtlStatus['run'] = {
  runId: '20261130-080000-smoke-aaaa',
  plan: 'smoke',
  startedAt: '2026-11-30T08:00:00.000Z',
  at: '2026-11-30T08:02:05.000Z',
  phase: 'measuring',
  tier: 0,
  envs: 1000,
  live: 998,
  quarantined: 2,
  samplingSps: 52_100,
  trainingSps: 41_000,
  restarts: 1,
};
const WORKERS: CtlStatus['workers'] = [
  {
    worker: 0,
    pid: 811,
    epoch: 1,
    verdict: 'ok',
    envId: -1,
    op: 'idle',
    nativeAgeMs: 31,
    loopAgeMs: 2,
    opAgeMs: 0,
    restarts: 1,
    budgetLeft: 9,
    report: { rssBytes: 2 ** 27 },
  },
  {
    worker: 1,
    pid: null,
    epoch: 0,
    verdict: 'hung',
    envId: 512,
    op: 'step',
    nativeAgeMs: 12,
    loopAgeMs: 61_000,
    opAgeMs: 61_000,
    restarts: 0,
    budgetLeft: 10,
    report: null,
  },
];
const HEALTH = {
  workers: WORKERS,
  learner: { pid: 900, restarts: 0, report: null },
  suspended: '3 of 4 workers are late',
  deadlinesMissed: { step: 2, reset: 0 },
};

const obey: Obey = async (command) => {
  if (command.command === 'status')
    return { id: command.id, ok: true, message: '1 of 2 workers are well', detail: { run: RUN, ...HEALTH } };
  if (command.command === 'quarantine' && command.envId === 404)
    return { id: command.id, ok: false, message: 'no env 404 has been started\u001b[2J' };
  return { id: command.id, ok: true, message: `did ${JSON.stringify({ ...command, id: '' })}` };
};

describe('envladder ctl', { timeout: 120_000 }, () => {
  let cwd = '';
  const open: { lock: FolderLock; control: ControlSocket | null }[] = [];

  /** A run folder whose lock this process holds, as a supervisor would. */
  function liveFolder(id: string): string {
    const dir = join(cwd, 'runs', id);
    mkdirSync(dir, { recursive: true });
    const lock = takeLock(dir);
    assert.ok(isLock(lock));
    open.push({ lock, control: null });
    return dir;
  }
  before(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'envladder-ctl-'));
    const dir = liveFolder('20261130-080000-smoke-aaaa');
    open.push({ lock: (open[0] as { lock: FolderLock }).lock, control: await openControlSocket({ dir, obey }) });
    // Newer, and dead.
    const dead = join(cwd, 'runs', '20261130-090000-smoke-bbbb');
    mkdirSync(dead);
    writeFileSync(join(dead, 'supervisor.1.lock'), JSON.stringify({ pid: 1, start_ticks: 1, boot_id: 'another' }));
    mkdirSync(join(cwd, 'runs', 'zz-no-run'));
  });
  after(async () => {
    for (const { lock, control } of open) {
      await control?.close();
      lock.release();
    }
    rmSync(cwd, { recursive: true, force: true });
  });

  it('prints how the newest living run stands', async () => {
    // Goal: without --run the right folder is found, dead and foreign ones are passed over.
    const { code, stdout, stderr } = await runCli(['ctl', 'status'], { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /run 20261130-080000-smoke-aaaa, plan smoke: tier 1, measuring, 2 min 05 s since its start/);
    assert.match(stdout, /998 of 1,000 live {3}2 quarantined/);
    assert.match(stdout, /52,100 sampled {3}41,000 trained/);
    assert.match(stdout, /nothing is killed for now: 3 of 4 workers are late/);
    assert.match(stdout, /deadlines missed: step 2\n/);
    assert.match(stdout, /^ +1 {2}hung +- +0 {2}step env 512 +12 ms +1 min 01 s +1 min 01 s +0 +10 +-$/m);
  });

  it('prints the answer for a tool', async () => {
    // Goal: --json is the whole answer and nothing else, and keeps the contract.
    const { code, stdout } = await runCli(['ctl', '--run', join('runs', '20261130-080000-smoke-aaaa'), 'status', '--json'], { cwd });
    assert.equal(code, 0);
    const answer = JSON.parse(stdout) as CtlAnswer;
    assert.equal(answer.ok, true);
    const status = ctlStatusSchema.parse(answer.detail);
    assert.equal(status.run?.live, 998);
    assert.equal(status.workers.length, 2);
  });

  it('passes the other commands on', async () => {
    // Goal: the numbers arrive at the crew as numbers.
    for (const [words, sent] of [
      [['replace-worker', '1'], { command: 'replace-worker', worker: 1 }],
      [['release', '999'], { command: 'release', envId: 999 }],
      [['checkpoint'], { command: 'checkpoint' }],
    ] as const) {
      const { code, stdout } = await runCli(['ctl', ...words], { cwd });
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(stdout.slice('did '.length)), { id: '', ...sent });
    }
  });

  it('ends with exit code 2 and the reason for what it cannot do', async () => {
    // Goal: a refusal, a wrong word, a wrong number, no run: each named, none with a stack.
    const empty = mkdtempSync(join(tmpdir(), 'envladder-none-'));
    for (const [words, says, where] of [
      [['quarantine', '404'], /the run refused: no env 404 has been started/, cwd],
      [['shutdown'], /ctl: 'shutdown' is no command; known: status, replace-worker/, cwd],
      [['replace-worker'], /ctl replace-worker needs a worker/, cwd],
      [['replace-worker', '256'], /'256' is not a worker: a whole number from 0 to 255/, cwd],
      [['release', '1e3'], /'1e3' is not an env id: a whole number from 0 to 1000000/, cwd],
      [['status', '3'], /ctl status takes no number/, cwd],
      [[], /missing required argument 'command'/, cwd],
      [['--run', 'runs/20261130-090000-smoke-bbbb', 'status'], /holds no run that is alive/, cwd],
      [['--run', '', 'status'], /--run: '' names no folder/, cwd],
      [['--run', 'nowhere', 'status'], /nowhere holds no run that is alive/, cwd],
      [['status'], /no run under runs is alive: start one/, empty],
    ] as const) {
      const { code, stdout, stderr } = await runCli(['ctl', ...words], { cwd: where });
      assert.equal(code, 2, `${words.join(' ')}: ${stderr}`);
      assert.match(stderr, says);
      assert.equal(stdout, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the run's words must not steer the terminal
      assert.doesNotMatch(stderr, /\u001b|\n +at /);
    }
    const json = await runCli(['ctl', 'quarantine', '404', '--json'], { cwd });
    assert.equal(json.code, 2);
    assert.equal((JSON.parse(json.stdout) as { error: { code: string } }).error.code, 'bad-usage');
    rmSync(empty, { recursive: true });
  });

  it('gives up on a run that answers with garbage, and says so for one without a socket', async () => {
    // Goal: whatever holds the lock, the command ends.
    const hostile = liveFolder('20261130-100000-smoke-cccc');
    const silent = await runCli(['ctl', '--run', hostile, 'status'], { cwd });
    assert.equal(silent.code, 2);
    assert.match(silent.stderr, /has no ctl\.sock: it has ended, or has just begun/);
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write('\u001b[31mHTTP/1.1 400 Bad Request\r\n\r\n');
    }).listen(join(hostile, 'ctl.sock'));
    await once(server, 'listening');
    const { code, stderr } = await runCli(['ctl', 'status'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /cccc: what answers on its control socket is no ladder/);
    assert.match(stderr, /one more run is alive; --run names another/);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

describe('words of ctl', () => {
  it('become a command of the contract or a usage error, never anything else', () => {
    // Goal: no word from a shell ends in a stack.
    const word = fc.oneof(
      fc.constantFrom('status', 'replace-worker', 'quarantine', 'release', 'checkpoint', 'constructor', '__proto__'),
      fc.string(),
    );
    fc.assert(
      fc.property(word, fc.option(fc.oneof(fc.string(), fc.integer().map(String)), { nil: undefined }), (first, second) => {
        try {
          assert.ok(ctlCommandSchema.safeParse(readWords(first, second)).success);
        } catch (error) {
          assert.ok(error instanceof EnvladderError && error.code === 'bad-usage', String(error));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('show a run that has only begun', () => {
    // Goal: nulls and empty lists are shown, not thrown at.
    const text = statusText({
      run: null,
      workers: [],
      learner: { pid: null, restarts: 0, report: null },
      suspended: null,
      deadlinesMissed: {},
    });
    assert.match(text, /learner {3}away/);
  });
});
