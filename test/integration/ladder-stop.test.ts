// However a run is stopped or loses a process, nothing is left behind and the record says what happened.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { balanceGap } from '../../harness/ladder/balance.js';
import { childPid, eventsOf, markedPids, ROOT, type Running, runCli, startCli } from '../cli/run-cli.js';
import { holdersOf, until } from '../fixtures/test-crew.js';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-stop-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** A long run with one tier, live and measuring. */
async function measuring(name: string, more: readonly string[] = []): Promise<{ running: Running; dir: string }> {
  const dir = join(root, name);
  const running = startCli(
    ['ladder', '--plan', 'smoke', '--kind', 'cartpole', '--tiers', '16', '--seconds', '3600', '--out', dir, ...more],
    { cwd: root },
  );
  after(() => {
    for (const pid of markedPids(running.mark)) process.kill(pid, 'SIGKILL');
  });
  await running.until('its tier was live', () => /envs live after/.test(running.stderrSoFar()));
  assert.ok(markedPids(running.mark).length >= 3, 'supervisor, worker and learner run');
  assert.ok(holdersOf(recordOf(dir).run.id).length >= 3, 'its memory is found by the name that nothingLeft looks for');
  return { running, dir };
}

const recordOf = (dir: string): RunRecord => JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord;

/** Orphans may need a moment to hear of their parent's death; the watchdog bounds the wait. Memory is looked for in every process. */
async function noneLeft(mark: string, dir: string): Promise<void> {
  while (markedPids(mark).length > 0) await pause(20);
  const { id } = recordOf(dir).run;
  // A dying process loses its environment, and with it the mark, before its files.
  await until(() => holdersOf(id).length === 0);
}

async function nothingLeft(mark: string, dir: string): Promise<void> {
  await noneLeft(mark, dir);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.endsWith('.tmp')),
    [],
  );
}

describe('stopping', { timeout: 300_000 }, () => {
  it('Ctrl-C once: checkpoint, drain, report, exit 130, sums exact', async () => {
    const { running, dir } = await measuring('once');
    // A terminal signals the whole process group.
    process.kill(-running.pid, 'SIGINT');
    const result = await running.ended;
    assert.equal(result.code, 130, result.stderr);
    const record = recordOf(dir);
    assert.equal(record.run.state, 'interrupted');
    assert.equal(record.exit_code, 130);
    assert.deepEqual(
      record.validity.reasons.map(({ code }) => code),
      ['interrupted'],
    );
    assert.deepEqual(record.deaths, []);
    assert.ok(
      record.checkpoints.some(({ reason }) => reason === 'stop'),
      'the checkpoint of the stop stands in the record',
    );
    assert.ok(record.balance !== null && balanceGap(record.balance) === 0);
    const types = eventsOf(dir).map(({ type }) => type);
    for (const type of ['interrupted', 'checkpoint', 'learner-stopped', 'worker-stopped', 'run-stopped'])
      assert.ok(types.includes(type), type);
    assert.ok(readdirSync(dir).includes('report.html'));
    await nothingLeft(running.mark, dir);
  });

  it('SIGTERM is the same', async () => {
    const { running, dir } = await measuring('term');
    process.kill(running.pid, 'SIGTERM');
    assert.equal((await running.ended).code, 130);
    assert.equal(recordOf(dir).run.state, 'interrupted');
    await nothingLeft(running.mark, dir);
  });

  it('Ctrl-C twice ends a hung env within the drain it would have had', async () => {
    const module = join(ROOT, 'test', 'cli', 'fixtures', 'hanging-env.mjs');
    const plan = [
      '--module',
      module,
      '--kind',
      'hanging',
      '--learner',
      'random',
      '--plan',
      join(ROOT, 'test', 'cli', 'fixtures', 'long-drain.yaml'),
    ];
    const dir = join(root, 'twice');
    const running = startCli(['ladder', ...plan, '--out', dir], { cwd: root });
    await running.until('it hung', () => /envs live after/.test(running.stderrSoFar()));
    process.kill(-running.pid, 'SIGINT');
    await running.until('the first Ctrl-C was heard', () => /Ctrl-C again/.test(running.stderrSoFar()));
    process.kill(-running.pid, 'SIGINT');
    // The plan's drain is an hour: without the second Ctrl-C the test's watchdog would end this.
    assert.equal((await running.ended).code, 130);
    assert.equal(recordOf(dir).run.state, 'interrupted');
    await nothingLeft(running.mark, dir);
  });
});

describe('kill -9', { timeout: 300_000 }, () => {
  it('of a worker: it is restarted, the run goes on, the record says what died and is invalid', async () => {
    const { running, dir } = await measuring('worker');
    const pid = childPid(running, 'worker');
    process.kill(pid, 'SIGKILL');
    await running.until('the worker was restarted', () => /worker 0 is ready \(pid \d+, epoch 1\)/.test(running.stderrSoFar()));
    process.kill(running.pid, 'SIGINT');
    await running.ended;
    const record = recordOf(dir);
    assert.deepEqual(
      record.deaths.map(({ role, worker, pid: of, cause, restarted }) => [role, worker, of, cause, restarted]),
      [['worker', 0, pid, 'SIGKILL', true]],
    );
    assert.ok(record.validity.reasons.some(({ code, message }) => code === 'worker-died' && message.includes(String(pid))));
    assert.ok(record.balance !== null && balanceGap(record.balance) === 0);
    await nothingLeft(running.mark, dir);
  });

  it('of the learner: it is started again, the run goes on, the record says what died and is invalid', async () => {
    const { running, dir } = await measuring('learner');
    const pid = childPid(running, 'learner');
    process.kill(pid, 'SIGKILL');
    await running.until('the learner was started again', () => eventsOf(dir).some(({ type }) => type === 'learner-restarted'));
    process.kill(running.pid, 'SIGINT');
    const result = await running.ended;
    assert.match(result.stderr, /the learner \(pid \d+\) died: SIGKILL; it is started again/);
    const record = recordOf(dir);
    assert.deepEqual(
      record.deaths.map(({ role, pid: of, cause, restarted }) => [role, of, cause, restarted]),
      [['learner', pid, 'SIGKILL', true]],
    );
    assert.ok(record.validity.reasons.some(({ code }) => code === 'learner-died'));
    assert.ok(record.balance !== null && balanceGap(record.balance) === 0);
    await nothingLeft(running.mark, dir);
  });

  it('of a learner beyond its budget: the run ends invalid with 4', async () => {
    const plan = join(root, 'no-second-learner.yaml');
    writeFileSync(plan, 'tiers: [16]\nmix: {cartpole: 1}\nhealth: {learnerBudget: {restarts: 0}}\n');
    const { running, dir } = await measuring('learner-lost', ['--plan', plan]);
    const pid = childPid(running, 'learner');
    process.kill(pid, 'SIGKILL');
    const result = await running.ended;
    assert.equal(result.code, 4, result.stderr);
    const record = recordOf(dir);
    assert.equal(record.run.state, 'failed');
    assert.deepEqual(
      record.deaths.map(({ role, pid: of, cause, restarted }) => [role, of, cause, restarted]),
      [['learner', pid, 'SIGKILL', false]],
    );
    assert.deepEqual(
      record.validity.reasons.map(({ code }) => code),
      ['learner-died'],
    );
    assert.equal(record.tiers[0]?.complete, false);
    assert.ok(readdirSync(dir).includes('report.html'));
    await nothingLeft(running.mark, dir);
  });

  it('of the supervisor: children follow it, and the next start beside it writes the end of its record', async () => {
    const { running, dir } = await measuring('supervisor');
    process.kill(running.pid, 'SIGKILL');
    await running.ended;
    // Not nothingLeft: the kill may hit the middle of a write, whose temporary file then stays.
    await noneLeft(running.mark, dir);
    assert.equal(recordOf(dir).run.state, 'running');
    const next = await runCli(
      ['ladder', '--plan', 'smoke', '--learner', 'none', '--kind', 'noop', '--tiers', '4', '--seconds', '0.2', '--out', join(root, 'next')],
      { cwd: root },
    );
    // What a busy machine makes of its fifth of a second is not the matter here.
    assert.ok(next.code === 0 || next.code === 4, next.stdout + next.stderr);
    assert.match(next.stderr, /supervisor: its supervisor died; its record now says so/);
    const record = recordOf(dir);
    assert.equal(record.run.state, 'failed');
    assert.equal(record.exit_code, 4);
    assert.deepEqual(
      record.deaths.map(({ role, pid }) => [role, pid]),
      [['supervisor', running.pid]],
    );
    assert.ok(record.validity.reasons.some(({ code }) => code === 'supervisor-died'));
    const report = await runCli(['report', dir], { cwd: root });
    assert.equal(report.code, 0, report.stderr);
    assert.match(report.stdout, /supervisor \(process \d+\) died/);
  });

  it('of the supervisor: `envladder report` writes the end as well', async () => {
    const { running, dir } = await measuring('reported');
    process.kill(running.pid, 'SIGKILL');
    await running.ended;
    await noneLeft(running.mark, dir);
    const report = await runCli(['report', dir, '--json'], { cwd: root });
    assert.equal((JSON.parse(report.stdout) as RunRecord).run.state, 'failed');
    assert.equal(report.code, 0);
  });
});
