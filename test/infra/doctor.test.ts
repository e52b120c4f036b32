// Goal: the doctor names what differs, tells drift from what could not be checked, and never reads a lost connection as "as wanted".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RigOutput } from '../../harness/contract/rig-output.js';
import type { RigSettings } from '../../infra/config.js';
import type { DesiredConcern } from '../../infra/desired.js';
import { examineRig, judgeCheck, pendingConcerns, unreachableReport } from '../../infra/doctor.js';
import type { ScriptCall, ScriptRun } from '../../infra/host-script.js';
import type { SshSession } from '../../infra/ssh-session.js';

const desired: DesiredConcern[] = [
  { concern: 'host-ready', params: { needGpu: 'no' }, secrets: {} },
  { concern: 'redis-trio', params: { port: '6379' }, secrets: { app: 'redisAppPassword' } },
  { concern: 'shm-janitor', params: { prefix: 'envladder-' }, secrets: {} },
];
const output = {
  configHash: '0123456789abcdef',
  host: { id: 'box', address: '127.0.0.1', port: 22, user: 'rig', hostKey: null },
  concerns: desired.map((each) => ({ ...each, script: 'x' })),
} as unknown as RigOutput;
const settings = { config: {}, secrets: { redisAppPassword: 'not-to-be-shown' } } as unknown as RigSettings;
const session = {} as SshSession;

const run = (code: number | null, differs: string[] = [], words = ''): ScriptRun => ({
  code,
  answer: code === null ? null : { concern: 'x', action: 'check', changed: false, before: {}, after: { port: 6379 }, differs },
  words,
});

const examine = (answers: Record<string, ScriptRun>, calls: ScriptCall[] = []) =>
  examineRig({
    output,
    settings,
    desired,
    session,
    runScript: async (_session, _user, call) => {
      calls.push(call);
      return answers[call.concern] ?? run(0);
    },
  });

describe('the doctor', () => {
  it('says ok when every check does and the config is the one that was applied', async () => {
    const report = await examine({});
    assert.equal(report.status, 'ok');
    assert.deepEqual(
      report.concerns.map(({ concern, status }) => [concern, status]),
      [
        ['host-ready', 'ok'],
        ['redis-trio', 'ok'],
        ['shm-janitor', 'ok'],
      ],
    );
    assert.deepEqual(report.config.pending, []);
  });

  it('names the concern that drifted and what differs, and goes on to the others', async () => {
    const report = await examine({ 'redis-trio': run(1, ['role:6380'], 'redis-trio: differs: role:6380 (master)\n') });
    assert.equal(report.status, 'drift');
    const redis = report.concerns[1];
    assert.deepEqual([redis?.status, redis?.differs, redis?.words], ['drift', ['role:6380'], ['redis-trio: differs: role:6380 (master)']]);
    assert.equal(report.concerns[2]?.status, 'ok');
  });

  it('calls a check that could not look failed, and the rig not as wanted', async () => {
    for (const code of [64, 70, 75, 79, 127]) {
      const report = await examine({ 'host-ready': run(code, [], 'no sudo\n') });
      assert.deepEqual([report.status, report.concerns[0]?.status, report.concerns[0]?.exit_code], ['drift', 'failed', code]);
    }
    assert.equal(
      judgeCheck('x', { code: 0, answer: null, words: 'a shell that greets' }).status,
      'failed',
      'an exit code without an answer proves nothing',
    );
    assert.equal(judgeCheck('x', { code: 1, answer: null, words: '' }).status, 'failed');
  });

  it('is unreachable when the connection goes half-way, with what it had learnt', async () => {
    const report = await examine({ 'redis-trio': run(null) });
    assert.equal(report.status, 'unreachable');
    assert.equal(report.concerns.length, 2);
    assert.match(report.problem ?? '', /lost during redis-trio/);
  });

  it('hands secrets to the scripts that take them and shows none', async () => {
    const calls: ScriptCall[] = [];
    const report = await examine({}, calls);
    assert.deepEqual(calls[1]?.secrets, { app: 'not-to-be-shown' });
    assert.ok(calls.every(({ action }) => action === 'check'));
    assert.ok(!JSON.stringify(report).includes('not-to-be-shown'));
  });

  it('tells a config that was changed since the last up from a host that was changed', async () => {
    const [ready, redis, janitor] = desired as [DesiredConcern, DesiredConcern, DesiredConcern];
    const changed = [ready, { ...redis, params: { port: '7000' } }];
    assert.deepEqual(pendingConcerns(output.concerns, changed), ['redis-trio', 'shm-janitor']);
    assert.deepEqual(pendingConcerns(output.concerns, [ready, redis, janitor, { concern: 'node-runtime', params: {}, secrets: {} }]), [
      'node-runtime',
    ]);
    const report = await examineRig({ output, settings, desired: changed, session, runScript: async () => run(0) });
    assert.equal(report.status, 'drift');
    assert.ok(report.concerns.every(({ status }) => status === 'ok'));
  });

  it('reports a host that does not answer in the same form', () => {
    const report = unreachableReport({ output, desired }, 'refused');
    assert.deepEqual(
      [report.schema, report.status, report.concerns, report.problem, report.host.id],
      [1, 'unreachable', [], 'refused', 'box'],
    );
  });
});
