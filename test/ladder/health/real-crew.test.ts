// Goal: on a real crew the keeper's report is what happened: errors of real processes by kind, the death by cause, states, growth, sums.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { healthReportSchema } from '../../../harness/contract/health-report.js';
import { createHealthKeeper } from '../../../harness/ladder/health/health-keeper.js';
import { monotonicMs } from '../../../harness/supervisor/clock.js';
import { raiseTestCrew, stopAllCrews, until } from '../../fixtures/test-crew.js';

afterEach(stopAllCrews);

test('errors of a faulty kind, a killed worker and a quarantine end up in health.json', { timeout: 60_000 }, async (t) => {
  // Goal: two workers, one env that throws until it is quarantined, one SIGKILL.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-real-health-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const broken = { kind: 'fault', share: 0.5, config: { kind: 'cartpole', schedule: [{ fault: 'throw', atStep: 2, envIds: [12] }] } };
  const beganMs = monotonicMs();
  const rig = await raiseTestCrew({
    tiers: [16],
    mix: { cartpole: 0.5, broken },
    workers: 2,
    health: { envBudget: { restarts: 2 }, coolDowns: 0, backoff: { baseSeconds: 0.01, maxSeconds: 0.02 } },
  });
  const ranges = rig.segments.flatMap(({ spec }) =>
    spec.blocks.map(({ firstEnvId, slots }) => ({
      first: firstEnvId,
      count: slots,
      entry: firstEnvId < 8 ? 'cartpole' : 'broken',
      worker: spec.worker,
    })),
  );
  const keeper = createHealthKeeper({
    runId: rig.runId,
    dir,
    envs: 16,
    ranges,
    crew: rig.crew,
    softLimitBytes: 0,
    plannedSeconds: 60,
    beganMs,
    nowMs: monotonicMs,
    onNotice: assert.fail,
  });
  let heard = 0;
  let mourned = 0;
  const look = (): void => {
    for (; heard < rig.events.length; heard++) keeper.hear(rig.events[heard] as (typeof rig.events)[number]);
    for (; mourned < rig.deaths.length; mourned++) keeper.death(rig.deaths[mourned] as (typeof rig.deaths)[number]);
    keeper.tick();
  };
  await until(() => {
    look();
    return rig.crew.scan().quarantined === 1;
  });
  process.kill(rig.workerPid(0), 'SIGKILL');
  await until(() => {
    look();
    return (
      rig.event('worker-recovered') !== undefined &&
      rig.crew.health().workers.every(({ report, verdict }) => report !== null && verdict !== 'dead')
    );
  });
  const moved = rig.crew.scan().published;
  await until(() => {
    look();
    return rig.crew.scan().published > moved + 500;
  });
  await rig.crew.stop(5000);
  for (; heard < rig.events.length; heard++) keeper.hear(rig.events[heard] as (typeof rig.events)[number]);
  const summary = await keeper.finish();
  const report = healthReportSchema.parse(JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8')));
  assert.equal(report.state_counts.quarantined, 1);
  assert.match(report.states, /q/);
  assert.deepEqual([report.errors.distinct, report.errors.lost, report.errors.total], [1, 0, 3]);
  const [kind] = report.errors.top;
  assert.deepEqual([kind?.count, kind?.envs, kind?.env_ids, kind?.entries], [3, 1, [12], { broken: 3 }]);
  assert.equal(kind?.exemplar.operation, 'step');
  assert.ok((kind?.exemplar.stack ?? '').includes('at '), 'the exemplar has its stack');
  assert.equal(report.restarts.causes.find(({ cause }) => cause === 'worker SIGKILL')?.total, 1);
  assert.deepEqual(report.troubled.envs.find(([env]) => env === 12)?.[2], 3);
  assert.ok(report.events.envs.some(([env]) => env === 12));
  assert.ok(report.events.workers.some(([worker]) => worker === 0));
  assert.ok(report.growth.filter(({ role }) => role === 'worker').every(({ rss_bytes }) => rss_bytes.last > 1e7));
  assert.equal(report.growth.find(({ worker }) => worker === 0)?.lives, summary.restarts + 1);
  assert.equal(summary.errors, 3);
  const text = readFileSync(join(dir, 'errors', 'top10.ndjson'), 'utf8');
  assert.equal(text.trimEnd().split('\n').length, 1);
});

test('a worker that leaks is replaced before it holds twice its soft limit, and its envs step on', { timeout: 90_000 }, async (t) => {
  // Goal: row 12 end to end: the process's own reports, the decision, the command, a new life that does not leak.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-leak-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const leaky = {
    kind: 'fault',
    share: 1,
    config: { kind: 'cartpole', schedule: [{ fault: 'leak', megabytesPerSecond: 30, envIds: [0], onlyEpoch: 0 }] },
  };
  const softLimitBytes = 300e6;
  const beganMs = monotonicMs();
  const rig = await raiseTestCrew({ tiers: [4], mix: { leaky }, workers: 1, health: { softLimitBytes } });
  const notices: string[] = [];
  const keeper = createHealthKeeper({
    runId: rig.runId,
    dir,
    envs: 4,
    ranges: [{ first: 0, count: 4, entry: 'leaky', worker: 0 }],
    crew: rig.crew,
    softLimitBytes,
    plannedSeconds: 60,
    beganMs,
    nowMs: monotonicMs,
    onNotice: (message) => notices.push(message),
  });
  let most = 0;
  await until(() => {
    keeper.tick();
    most = Math.max(most, rig.crew.health().workers[0]?.report?.rssBytes ?? 0);
    return rig.event('worker-replaced') !== undefined && keeper.snapshot().restarts.soft === 1;
  });
  assert.ok(most >= softLimitBytes && most < 2 * softLimitBytes, `${most} bytes`);
  assert.equal(notices.length, 1, notices.join('\n'));
  assert.match(
    notices[0] ?? '',
    /worker 0 is replaced before its memory runs out: it holds \d+ MB, over its soft limit of 300 MB, and grows/,
  );
  const before = rig.crew.scan().published;
  await until(() => rig.crew.scan().published > before + 500);
  assert.deepEqual(rig.deaths, [], 'a replacement is no death');
  await rig.crew.stop(5000);
  await keeper.finish();
});
