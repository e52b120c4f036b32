// Goal: the keeper turns looks and events into one valid, bounded health.json, acts once per life, and never disturbs a run.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CtlAnswer, CtlCommand } from '../../../harness/contract/ctl.js';
import { type HealthReport, healthReportSchema, healthSummarySchema } from '../../../harness/contract/health-report.js';
import type { ChildReport } from '../../../harness/contract/messages.js';
import { createHealthKeeper, type HealthKeeper, type HealthKeeperOptions } from '../../../harness/ladder/health/health-keeper.js';
import { errorTableBytes, openErrorTables } from '../../../harness/memory/error-tables.js';
import type { CrewHealth, WorkerHealth } from '../../../harness/supervisor/crew.js';

const WORKERS = 2;

interface Rig {
  readonly keeper: HealthKeeper;
  readonly dir: string;
  readonly notices: string[];
  readonly asked: CtlCommand[];
  readonly states: Uint8Array;
  readonly frames: Float64Array;
  readonly rebuilds: Uint32Array;
  readonly failures: Uint32Array;
  readonly workers: Partial<WorkerHealth>[];
  readonly crew: { suspended: string | null; learner: ChildReport | null };
  readonly errors: ReturnType<typeof openErrorTables>;
  /** One second later. */
  second(): void;
  read(): HealthReport;
}

function rig(t: TestContext, envs: number, over: Partial<HealthKeeperOptions> = {}, answer?: (command: CtlCommand) => CtlAnswer): Rig {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-health-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  let nowMs = 5000;
  const states = new Uint8Array(envs);
  const frames = new Float64Array(envs).fill(Number.NaN);
  const rebuilds = new Uint32Array(envs);
  const failures = new Uint32Array(envs);
  const workers: Partial<WorkerHealth>[] = Array.from({ length: WORKERS }, () => ({}));
  const crew = { suspended: null as string | null, learner: null as ChildReport | null };
  const notices: string[] = [];
  const asked: CtlCommand[] = [];
  const errors = openErrorTables(new ArrayBuffer(errorTableBytes(WORKERS + 1)), WORKERS + 1, true, () => nowMs);
  const health = (): CrewHealth => ({
    workers: workers.map((over, worker) => ({
      worker,
      pid: 10 + worker,
      epoch: 0,
      verdict: 'ok',
      envId: -1,
      op: 'idle',
      nativeAgeMs: 1,
      loopAgeMs: 1,
      opAgeMs: 0,
      restarts: 0,
      budgetLeft: 3,
      report: null,
      ...over,
    })),
    learner: { pid: 9, restarts: 0, report: crew.learner },
    suspended: crew.suspended,
    rebuilds,
    failures,
    deadlinesMissed: { construct: 0, reset: 1, step: 2, close: 0 },
    envStats: null,
  });
  const half = envs >> 1;
  const keeper = createHealthKeeper({
    runId: 'r1',
    dir,
    envs,
    ranges: [
      { first: 0, count: half, entry: 'cart', worker: 0 },
      { first: half, count: envs - half, entry: 'pole', worker: 1 },
    ],
    crew: {
      envStates: () => states,
      envFrames: () => frames,
      health,
      errors: () => Array.from({ length: WORKERS + 1 }, (_, line) => errors.read(line)),
      obey: async (command) => {
        asked.push(command);
        return answer?.(command) ?? { id: command.id, ok: true, message: 'done' };
      },
    },
    softLimitBytes: 0,
    plannedSeconds: 600,
    beganMs: 5000,
    nowMs: () => nowMs,
    onNotice: (message) => notices.push(message),
    ...over,
  });
  const second = () => {
    nowMs += 1000;
    keeper.tick();
  };
  const read = () => healthReportSchema.parse(JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8')));
  return { keeper, dir, notices, asked, states, frames, rebuilds, failures, workers, crew, errors, second, read };
}

test('a run with one of everything ends in a health.json that says so', async (t) => {
  // Goal: each field, from looks and events; the summary for run.json agrees.
  const r = rig(t, 8, { refused: () => ({ 'not JSON': 3 }) });
  r.states.fill(1);
  r.frames.fill(10);
  r.second();
  r.keeper.beginMeasure();
  for (let s = 0; s < 70; s++) {
    for (let env = 0; env < 8; env++) r.frames[env] = (r.frames[env] as number) + (env === 3 ? 1 : 10);
    r.workers[0] = { report: { rssBytes: 1e8 + s, heapBytes: 5e7, fds: 21, loopLagMsMax: s, frames: s } };
    r.crew.suspended = s >= 10 && s < 14 ? 'more than 20 % of the workers are late' : null;
    r.second();
  }
  r.failures[5] = 2;
  r.rebuilds[5] = 1;
  r.states[5] = 4;
  r.workers[1] = { verdict: 'frozen' };
  r.errors.add(1, { envId: 5, entry: 'pole', operation: 'step', message: 'Error: <b>boom</b>', stack: '    at f (/a.js:1:1)' });
  r.keeper.hear({ type: 'env-failed', message: 'env 5 of pole failed', worker: 1, envId: 5 });
  r.keeper.hear({ type: 'env-rebuilt', message: '2 envs are built anew', worker: 1, detail: { envIds: [5, 6] } });
  r.keeper.death({
    role: 'worker',
    worker: 1,
    pid: 11,
    cause: 'deadline',
    last_env_id: 5,
    last_operation: 'step',
    stderr_tail: '',
    restarted: true,
    run_s: 71,
  });
  r.second();
  const summary = healthSummarySchema.parse(await r.keeper.finish());
  const report = r.read();
  assert.deepEqual([report.final, report.run_s, report.envs, report.states], [true, 72, 8, '4l1t1q2t']);
  assert.deepEqual([report.state_counts.live, report.state_counts.stale, report.state_counts.quarantined], [4, 3, 1]);
  assert.deepEqual(report.frames, [710, 710, 710, 80, 710, 710, 710, 710]);
  assert.deepEqual(report.troubled, { envs: [[5, 1, 2]], more: 0 });
  assert.deepEqual(report.slowest[0], { env_id: 3, entry: 'cart', worker: 0, frames: 70, median: 700, relative: 0.1 });
  assert.equal(report.slowest_over_s, 71);
  assert.deepEqual(
    report.restarts.causes.map(({ cause, total }) => [cause, total]),
    [
      ['env rebuilt', 2],
      ['worker deadline (step)', 1],
    ],
  );
  assert.deepEqual(report.suspended, {
    total_s: 4,
    times: 1,
    intervals: [{ from_s: 12, seconds: 4, reason: 'more than 20 % of the workers are late' }],
  });
  assert.deepEqual(
    report.events.envs.map(([env, lines]) => [env, lines.length]),
    [
      [5, 2],
      [6, 1],
    ],
  );
  assert.deepEqual([report.errors.total, report.errors.distinct, report.errors.top[0]?.exemplar.message], [1, 1, 'Error: <b>boom</b>']);
  assert.deepEqual(report.refused, { 'not JSON': 3 });
  assert.deepEqual(report.deadlines_missed, { construct: 0, reset: 1, step: 2, close: 0 });
  assert.deepEqual(
    report.growth.map(({ role, worker, samples }) => [role, worker, samples]),
    [['worker', 0, 70]],
  );
  assert.deepEqual([summary.errors, summary.rebuilds, summary.deadlines_missed, summary.suspended_s, summary.restarts], [1, 1, 3, 4, 0]);
  const [cart, pole] = report.stability;
  assert.ok(cart?.score === 1 && pole?.score !== null && (pole?.score ?? 1) < 1 && summary.stability === pole?.score);
  assert.equal(r.keeper.scores()[0], 1);
  assert.equal(report.log.written_bytes, readFileSync(join(r.dir, 'errors', 'top10.ndjson')).length);
  assert.deepEqual(r.notices, []);
  assert.deepEqual(readdirSync(r.dir).sort(), ['errors', 'health.json']);
});

test('a leaking worker is replaced once a life, with a notice, also when the command is refused', async (t) => {
  // Goal: row 12: 50 MB/s against a soft limit of 4 GB; the next life may be replaced again.
  const answers = [
    { ok: true, message: 'replaced' },
    { ok: false, message: 'its budget is used up' },
  ];
  const r = rig(t, 4, { softLimitBytes: 4e9 }, ({ id }) => ({ id, ...(answers.shift() ?? { ok: true, message: '' }) }));
  for (const epoch of [0, 1]) {
    for (let s = 0; s < 100; s++) {
      r.workers[0] = { epoch, report: { rssBytes: 1e8 + s * 50e6, heapBytes: 1e7, fds: 9, loopLagMsMax: 1, frames: 1 } };
      r.workers[1] = { epoch, report: { rssBytes: 9e9, heapBytes: 1e7, fds: 9, loopLagMsMax: 1, frames: 1 } };
      r.second();
    }
    // The new life has not spoken yet, the crew still shows the last report of the old one.
    r.workers[0] = { ...r.workers[0], epoch: epoch + 1 };
    r.second();
    // Let the answers arrive.
    await new Promise(setImmediate);
  }
  assert.deepEqual(r.asked, [
    { id: 'soft-restart-0-0', command: 'replace-worker', worker: 0 },
    { id: 'soft-restart-0-1', command: 'replace-worker', worker: 0 },
  ]);
  assert.match(r.notices[0] ?? '', /worker 0 is replaced before its memory runs out: it holds \d+ MB, grows by at least \d+ MB\/s/);
  assert.match(r.notices[2] ?? '', /worker 0 could not be replaced: its budget is used up/);
  await r.keeper.finish();
  assert.equal(r.read().restarts.soft, 1);
  assert.deepEqual(r.read().growth[0]?.lives, 2);
});

test('7,000 envs over six days with everything going wrong stay below 1 MB', async (t) => {
  // Goal: bounded by envs and by time; hostile texts do not blow it up either.
  const r = rig(t, 7000, { plannedSeconds: 6 * 86_400 });
  const kinds = 5000;
  for (let s = 0; s < 3000; s++) {
    for (let env = s % 7; env < 7000; env += 7) {
      r.states[env] = (env * 31 + s) % 6;
      r.frames[env] = 123_456_789 + env * s;
    }
    r.workers[s % 2] = { report: { rssBytes: 1e9 + s, heapBytes: 1e9, fds: 9, loopLagMsMax: 1, frames: 1 } };
    for (let n = 0; n < 5; n++) {
      const envId = (s * 5 + n) % 7000;
      r.failures[envId] = 9;
      r.keeper.hear({ type: 'env-failed', message: `env ${envId}: ${'\u0001"<\\'.repeat(200)} ${s}`, worker: 1, envId });
      r.keeper.hear({ type: 'worker-died', message: `worker 0 (pid ${s}) died`, worker: 0, envId });
      r.keeper.death({
        role: 'worker',
        worker: 0,
        pid: s,
        cause: `exit code ${s % 90}`,
        last_env_id: envId,
        last_operation: 'step',
        stderr_tail: '',
        restarted: true,
        run_s: s,
      });
    }
    const kind = s % kinds;
    r.errors.add(0, {
      envId: s,
      entry: 'cart',
      operation: 'step',
      message: `\u0001${kind.toString(26).replace(/\d/g, 'z')}`,
      stack: '\u0002'.repeat(3000),
    });
    r.second();
  }
  await r.keeper.finish();
  const text = readFileSync(join(r.dir, 'health.json'), 'utf8');
  assert.ok(text.length < 1_000_000, `${text.length} characters`);
  const report = r.read();
  assert.equal(report.frames?.length, 7000);
  assert.equal(report.events.envs.length, 2000);
  assert.ok(report.events.left_out > 0);
  assert.equal(
    report.restarts.causes.reduce((sum, { total }) => sum + total, 0),
    15_000,
  );
});

test('an orderly stop leaves the map as it was before it', async (t) => {
  // Goal: workers that leave because they were told to are neither stale nor gaps; errors they add while closing still count.
  for (const how of ['beginStop', 'event'] as const) {
    const r = rig(t, 4);
    r.states.fill(1);
    for (let s = 0; s < 10; s++) r.second();
    if (how === 'beginStop') r.keeper.beginStop();
    else r.keeper.hear({ type: 'learner-stopped', message: 'learner settled and stopped' });
    r.workers[0] = { verdict: 'dead' };
    r.workers[1] = { verdict: 'dead' };
    r.errors.add(0, { envId: 1, entry: 'cart', operation: 'close', message: 'Error: late', stack: '' });
    for (let s = 0; s < 10; s++) r.second();
    const summary = await r.keeper.finish();
    const report = r.read();
    assert.equal(report.states, '4l', how);
    assert.deepEqual([report.gaps.times, report.stability[0]?.score, summary.errors], [0, 1, 1]);
  }
});

test('a disk that refuses is said once; the run and the summary go on', async (t) => {
  // Goal: rows 36 and 38: nothing throws, failed writes are counted.
  const r = rig(t, 2, { writeFile: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOSPC' })) });
  for (let s = 0; s < 130; s++) r.second();
  const summary = await r.keeper.finish();
  assert.equal(summary.errors, 0);
  assert.deepEqual(r.notices, ['health.json could not be written (ENOSPC); it is tried again']);
  assert.equal(r.keeper.snapshot().log.failed_writes, 3);
});

test('a killed supervisor leaves a report that is at most a minute old', async (t) => {
  // Goal: without finish there is a health.json, marked as not final.
  const written: string[] = [];
  const r = rig(t, 2, { writeFile: async (_path, text) => void written.push(text) });
  for (let s = 0; s < 125; s++) r.second();
  await new Promise(setImmediate);
  const reports = written.map((text) => healthReportSchema.parse(JSON.parse(text)));
  assert.deepEqual(
    reports.map(({ run_s, final }) => [run_s, final]),
    [
      [60, false],
      [120, false],
    ],
  );
});
