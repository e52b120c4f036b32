// A ladder at a set rate: real processes, real clocks. A slow machine makes fewer steps, never more, so only upper bounds are asserted.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { runCli } from '../cli/run-cli.js';

const RATE = 20;
let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-rate-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

it('steps every env at the rate of the plan and not faster, and counts latency from the intended time', { timeout: 120_000 }, async () => {
  // Goal: an open load whose stalls count, with the service time beside it.
  const plan = join(root, 'plan.yaml');
  const dir = join(root, 'run');
  const lines = ['tiers: [16]', 'seconds: 3', 'mix: { cartpole: 1 }', 'workers: 1', 'learner: random', `rate: ${RATE}`];
  // What a busy test machine adds is no matter of this test.
  const lax = ['quiet: { maxForeignShare: 1, maxStealShare: 1, maxScheduleLagMs: 60000 }'];
  const slos = ['slos: ["response_latency_us.p50 >= 0", "rate.steps_per_env_s > 0"]'];
  writeFileSync(plan, `${[...lines, ...lax, ...slos].join('\n')}\n`);
  const { code, stdout, stderr } = await runCli(['ladder', '--plan', plan, '--out', dir]);
  assert.equal(code, 0, stderr + stdout);
  const [tier] = (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord).tiers;
  const rate = tier?.rate;
  assert.ok(rate !== null && rate !== undefined && tier !== undefined);
  assert.equal(rate.planned_steps_per_env_s, RATE);
  // One tick at each end of the window may fall inside it, and a backlog of the start may be made up for.
  assert.ok(rate.steps_per_env_s > 0 && rate.steps_per_env_s <= RATE + (RATE * 2) / tier.seconds, `${rate.steps_per_env_s} steps/s`);
  const { response_latency_us: response, schedule_lag_us: lag } = rate;
  assert.ok((response.p50 ?? -1) >= (tier.step_latency_us.p50 ?? 0), 'the response holds the service time');
  assert.ok((lag.max ?? -1) >= 0);
  assert.deepEqual(
    tier.slos.map(({ verdict }) => verdict),
    ['met', 'met'],
  );
  assert.match(stdout, /response p99/);
  assert.match(readFileSync(join(dir, 'report.html'), 'utf8'), /from the time at which the step was meant to begin/);
});

it('refuses a rate that is none', { timeout: 60_000 }, async () => {
  // Goal: bad input is told with its place.
  const plan = join(root, 'bad.yaml');
  writeFileSync(plan, 'tiers: [16]\nrate: 0\n');
  const { code, stderr } = await runCli(['plan', plan]);
  assert.equal(code, 2);
  assert.match(stderr, /bad\.yaml:2: rate: .*above 0/);
});
