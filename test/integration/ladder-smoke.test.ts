// The smoke plan from the command line to the report: valid, sums exact, one JSON document and nothing else; and training goes on from
// its checkpoints, unless they are damaged.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunRecord, runRecordSchema } from '../../harness/contract/run-record.js';
import { balanceGap } from '../../harness/ladder/balance.js';
import { eventsOf, markedPids, type Result, runCli, startCli } from '../cli/run-cli.js';

let root = '';
let dir = '';
let result: Result;
let record: RunRecord;
let mark = '';

before(
  async () => {
    root = mkdtempSync(join(tmpdir(), 'envladder-smoke-'));
    dir = join(root, 'smoke');
    const running = startCli(['ladder', '--plan', 'smoke', '--out', dir, '--json'], { cwd: root });
    mark = running.mark;
    result = await running.ended;
    record = runRecordSchema.parse(JSON.parse(result.stdout));
  },
  { timeout: 120_000 },
);
after(() => rmSync(root, { recursive: true, force: true }));

/** Every file of a folder and below. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name));
}

describe('the smoke plan', { timeout: 240_000 }, () => {
  it('prints exactly the run record with --json, and the folder holds the same', () => {
    assert.equal(result.stderr, '');
    assert.deepEqual(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')), JSON.parse(result.stdout));
  });

  it('says how to run it again: as typed, in a folder of its own, with the workers and the backend it had', () => {
    const { workers } = record.plan as { workers: number };
    assert.ok(workers >= 1 && record.learner.backend !== null);
    assert.equal(record.run.command, `npm run ladder -- --plan smoke --json --workers ${workers} --backend ${record.learner.backend}`);
  });

  it('is valid: every env live, trained, sums exact for each tier and the run', () => {
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.equal(result.code, 0);
    assert.equal(record.run.state, 'finished');
    assert.deepEqual(
      record.tiers.map(({ envs, envs_live, complete }) => [envs, envs_live, complete]),
      [
        [32, 32, true],
        [64, 64, true],
      ],
    );
    for (const tier of record.tiers) {
      assert.equal(balanceGap(tier.balance), 0);
      assert.ok(tier.updates > 0 && tier.training_sps > 0 && tier.goodput_sps >= tier.training_sps);
      assert.ok(tier.seconds >= 3 && tier.agent_steps > 0);
      assert.ok((tier.step_latency_us.p99 ?? 0) > 0 && (tier.memory.learner?.pss_bytes ?? 0) > 0);
    }
    assert.ok(record.balance !== null && balanceGap(record.balance) === 0);
    assert.equal(record.tiers[1]?.balance.carried_in, record.tiers[0]?.balance.in_flight);
  });

  it('leaves events, metrics, checkpoints and a report behind, and no process', () => {
    const types = eventsOf(dir).map(({ type }) => type);
    for (const type of ['run-started', 'worker-started', 'learner-started', 'tier-live', 'env-created', 'checkpoint', 'run-stopped'])
      assert.ok(types.includes(type), type);
    assert.equal(types.length, record.events.written);
    const lines = readFileSync(join(dir, 'metrics.ndjson'), 'utf8').trim().split('\n');
    assert.ok(lines.length >= 4 && lines.every((line) => JSON.parse(line) !== null));
    assert.ok(readFileSync(join(dir, 'report.html'), 'utf8').includes(record.run.id));
    assert.ok(record.checkpoints.length > 0);
    for (const { path } of record.checkpoints.slice(-1)) assert.ok(existsSync(join(dir, path)), path);
    assert.deepEqual(markedPids(mark), []);
  });

  it('renders the same report again from the folder alone', async () => {
    const first = readFileSync(join(dir, 'report.html'));
    rmSync(join(dir, 'report.html'));
    const again = await runCli(['report', dir], { cwd: root });
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /VALID/);
    assert.ok(first.equals(readFileSync(join(dir, 'report.html'))));
  });

  it('is what its record says when the report cannot be written: exit code 0 in both, and a warning beside --json', async () => {
    const out = join(root, 'no-report');
    mkdirSync(join(out, 'junit.xml'), { recursive: true });
    const args = ['ladder', '--plan', 'smoke', '--learner', 'none', '--kind', 'noop', '--tiers', '4', '--seconds', '0.2', '--json'];
    const ended = await runCli([...args, '--out', out], { cwd: root });
    assert.match(ended.stderr, /the report could not be written: .*junit\.xml .*EISDIR.*\n {2}later: npm run -s envladder -- report /);
    const printed = runRecordSchema.parse(JSON.parse(ended.stdout));
    assert.deepEqual([printed.verdict, printed.exit_code, ended.code], ['valid', 0, 0]);
    assert.deepEqual(JSON.parse(readFileSync(join(out, 'run.json'), 'utf8')), JSON.parse(ended.stdout));
  });

  it('goes on from the checkpoints with --resume, and refuses them all damaged', async () => {
    const args = (out: string): string[] => [
      'ladder',
      '--plan',
      'smoke',
      '--tiers',
      '16',
      '--seconds',
      '1',
      '--resume',
      dir,
      '--out',
      join(root, out),
      '--json',
    ];
    const resumed = await runCli(args('resumed'), { cwd: root });
    assert.equal(resumed.code, 0, resumed.stdout + resumed.stderr);
    assert.notEqual((JSON.parse(resumed.stdout) as RunRecord).run.resumed_from, null);

    for (const file of filesBelow(join(dir, 'checkpoints'))) {
      const bytes = readFileSync(file);
      if (statSync(file).size > 0) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
      writeFileSync(file, bytes);
    }
    const refused = await runCli(args('refused'), { cwd: root });
    assert.equal(refused.code, 2, refused.stdout + refused.stderr);
    const { error } = JSON.parse(refused.stdout) as { error: { code: string; message: string } };
    assert.equal(error.code, 'bad-checkpoint');
    assert.match(error.message, /checkpoint/);
  });

  it('refuses a second run in the same folder', async () => {
    const second = await runCli(['ladder', '--plan', 'smoke', '--out', dir], { cwd: root });
    assert.equal(second.code, 2);
    assert.match(second.stderr, /holds a finished run .*choose another folder with --out/);
  });
});
