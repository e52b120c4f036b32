// Goal: what a plan's objectives do to the command: refused before anything starts when they cannot be read, exit 5 when a valid run
// misses one, and an early end where they may abort.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runRecordSchema } from '../../harness/contract/run-record.js';
import { eventsOf, markedPids, runCli, startCli } from './run-cli.js';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-slo-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

function planFile(name: string, yaml: string): string {
  const file = join(root, `${name}.yaml`);
  writeFileSync(file, yaml);
  return file;
}

describe('objectives', { timeout: 240_000 }, () => {
  it('that cannot be read: exit 2, each with its line and what to write, nothing started', async () => {
    const plan = planFile('bad', 'tiers: [8]\nslos:\n  - step_latency_us.p99 < 30ms\n  - goodput_sp > 5\n');
    const result = await runCli(['ladder', '--plan', plan], { cwd: root });
    assert.match(result.stderr, /bad\.yaml:3: slos\[0\]: the limit '30ms' must be a bare number: the metric's name says its unit/);
    assert.match(result.stderr, /bad\.yaml:4: slos\[1\]: no metric is called 'goodput_sp', did you mean 'goodput_sps'\?/);
    assert.equal(result.code, 2);
    assert.equal(result.stdout, '');
    assert.ok(!existsSync(join(root, 'runs')));
  });

  it('that no machine meets: every tier runs, the run is valid, exit 5, and the record has value beside limit', async () => {
    const plan = planFile(
      'impossible',
      'tiers:\n  - 8\n  - { envs: 16, slos: [sampling_sps > 1e12] }\nseconds: 1\nlearner: random\nslos: [step_latency_us.p99 < 1e9, restarts.rate_per_1000_env_h < 0.5]\n',
    );
    const result = await runCli(['ladder', '--plan', plan, '--out', join(root, 'impossible'), '--json'], { cwd: root });
    const record = runRecordSchema.parse(JSON.parse(result.stdout));
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.equal(result.code, 5);
    assert.equal(record.exit_code, 5);
    assert.deepEqual(record.headline, { text: 'holds 8', tier: 0, envs: 8 });
    assert.deepEqual(
      record.tiers.map((tier) => tier.slos.map(({ verdict }) => verdict)),
      [
        ['met', 'met'],
        ['met', 'met', 'missed'],
      ],
    );
    for (const slo of record.tiers.flatMap((tier) => tier.slos)) assert.equal(typeof slo.value, 'number', slo.slo);
    for (const tier of record.tiers) {
      assert.ok((tier.least_frames_per_env ?? 0) >= 1);
      assert.ok(tier.machine_load !== null && tier.machine_load.foreign_share !== null);
    }
    assert.match(record.contract_sha256 ?? '', /^[0-9a-f]{64}$/);
  });

  it('that may abort: the climb ends there, valid and short, exit 5, and no process is left', async () => {
    const plan = planFile(
      'abort',
      'tiers: [8, 16]\nseconds: 600\nlearner: random\nslos:\n  - { slo: sampling_sps > 1e12, abort: true, after: 500ms }\n',
    );
    const dir = join(root, 'abort');
    const running = startCli(['ladder', '--plan', plan, '--out', dir, '--json'], { cwd: root });
    const result = await running.ended;
    const record = runRecordSchema.parse(JSON.parse(result.stdout));
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.equal(result.code, 5);
    assert.equal(record.tiers.length, 1);
    assert.equal(record.tiers[0]?.complete, false);
    assert.ok((record.tiers[0]?.seconds ?? 0) >= 0.5 && (record.tiers[0]?.seconds ?? 600) < 600);
    assert.deepEqual(
      record.tiers[0]?.slos.map(({ verdict, aborted }) => [verdict, aborted]),
      [['missed', true]],
    );
    assert.ok(eventsOf(dir).some(({ type, message }) => type === 'warning' && message.includes('which ends the climb')));
    assert.deepEqual(markedPids(running.mark), []);
  });

  it('that another contract was expected: said at once, exit 4', async () => {
    const plan = planFile('expects', `tiers: [4]\nseconds: 0.5\nlearner: random\nexpect: { contractSha256: "${'0'.repeat(64)}" }\n`);
    const result = await runCli(['ladder', '--plan', plan, '--out', join(root, 'expects')], { cwd: root });
    assert.match(result.stderr, /the env contract is [0-9a-f]{12}, the plan expects 000000000000: the run will be invalid/);
    assert.equal(result.code, 4, result.stderr);
  });
});
