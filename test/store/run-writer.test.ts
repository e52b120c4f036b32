import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type BetterSqlite3 from 'better-sqlite3';
import type { MetricsLine } from '../../harness/contract/metrics.js';
import type { RunEvent } from '../../harness/contract/run-events.js';
import { isAtLeast } from '../../harness/store/events-database.js';
import { openMemoryRunWriter } from '../../harness/store/memory-run-writer.js';
import { openMetricsFile } from '../../harness/store/metrics-file.js';
import type { RunWriter, RunWriterOptions } from '../../harness/store/run-writer.js';
import { openRunWriter } from '../../harness/store/threaded-run-writer.js';
import { fixtureMetrics, LADDER_RUN } from '../fixtures/ladder-run.js';
import { spawnChild } from './spawn-child.js';
import { mountTinyDisk } from './tiny-disk.js';

const WATCHDOG = { timeout: 30_000 };
const freshDir = () => mkdtempSync(join(tmpdir(), 'envladder-writer-'));
const created = (envId: number): RunEvent => ({
  type: 'env-created',
  at: '2026-11-30T04:55:12.000Z',
  runMs: envId / 8,
  worker: envId % 3,
  envId,
  tier: 1,
  message: `env ${envId} is live`,
  detail: { kind: 'cartpole', envId },
});
const line = (t_s: number): MetricsLine => ({ ...(fixtureMetrics()[0] as MetricsLine), t_s });

interface Row {
  readonly type: string;
  readonly at: string;
  readonly run_ms: number;
  readonly worker: number | null;
  readonly env_id: number | null;
  readonly tier: number | null;
  readonly message: string;
  readonly detail: string | null;
}

function openReadOnly(dir: string): BetterSqlite3.Database {
  const open = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
  return new open(join(dir, 'events.sqlite'), { readonly: true });
}

function readEvents(dir: string): RunEvent[] {
  const database = openReadOnly(dir);
  const rows = database.prepare('SELECT * FROM events ORDER BY id').all() as Row[];
  database.close();
  return rows.map((row) => ({
    type: row.type as RunEvent['type'],
    at: row.at,
    runMs: row.run_ms,
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.env_id === null ? {} : { envId: row.env_id }),
    ...(row.tier === null ? {} : { tier: row.tier }),
    message: row.message,
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) as Record<string, unknown> }),
  }));
}

interface Opened {
  readonly writer: RunWriter;
  readonly events: () => readonly RunEvent[];
  readonly metrics: () => readonly MetricsLine[];
}

const WRITERS: Readonly<Record<string, (options?: RunWriterOptions) => Opened>> = {
  sqlite(options) {
    const dir = freshDir();
    const metrics = () =>
      existsSync(join(dir, 'metrics.ndjson'))
        ? readFileSync(join(dir, 'metrics.ndjson'), 'utf8')
            .split('\n')
            .filter((text) => text !== '')
            .map((text) => JSON.parse(text) as MetricsLine)
        : [];
    return { writer: openRunWriter(dir, options), events: () => readEvents(dir), metrics };
  },
  memory(options) {
    const writer = openMemoryRunWriter(options);
    return { writer, events: () => writer.events, metrics: () => writer.metrics };
  },
};

for (const [name, open] of Object.entries(WRITERS)) {
  test(`${name} writer: 7,000 events and metrics at once arrive whole and in order`, WATCHDOG, async () => {
    // Goal: what a tier start brings is stored as it was handed in, every field of it.
    const { writer, events, metrics } = open();
    const sent = Array.from({ length: 7_000 }, (_, i) => created(i));
    for (const event of sent) writer.event(event);
    const bare: RunEvent = { type: 'warning', at: '', runMs: 0.5, message: 'no worker, env, tier or detail' };
    writer.event(bare);
    writer.metric(line(1));
    writer.metric(line(2));
    await writer.flush();
    assert.deepEqual(writer.counts(), { written: 7_001, dropped: 0, metricsWritten: 2, metricsDropped: 0 });
    assert.deepEqual(events(), [...sent, bare]);
    assert.deepEqual(metrics(), [line(1), line(2)]);
    assert.deepEqual(await writer.close(), writer.counts());
  });

  test(`${name} writer: a full queue drops the newest events and counts them, and takes events again later`, WATCHDOG, async () => {
    // Goal: the queue is bounded and no event disappears uncounted.
    const { writer, events } = open({ queueLimit: 100 });
    for (let i = 0; i < 1_000; i++) writer.event(created(i));
    assert.equal(writer.counts().dropped, 900);
    await writer.flush();
    writer.event(created(5_000));
    const counts = await writer.close();
    assert.deepEqual([counts.written, counts.dropped], [101, 900]);
    assert.deepEqual(
      events().map((event) => event.envId),
      [...Array.from({ length: 100 }, (_, i) => i), 5_000],
    );
  });

  test(`${name} writer: after the close events are dropped and counted, and flush and close still answer`, WATCHDOG, async () => {
    // Goal: late events at shutdown neither throw nor hang nor vanish from the count.
    const { writer } = open();
    writer.event(created(1));
    await writer.close();
    writer.event(created(2));
    writer.metric(line(1));
    await writer.flush();
    assert.deepEqual(await writer.close(), { written: 1, dropped: 1, metricsWritten: 0, metricsDropped: 1 });
  });
}

test('the database is in WAL mode, recent enough, and one file after the close', WATCHDOG, async () => {
  // Goal: the durability that the record promises rests on pragmas that are really set.
  const dir = freshDir();
  const writer = openRunWriter(dir);
  writer.event(created(1));
  await writer.flush();
  const database = openReadOnly(dir);
  assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
  assert.ok(isAtLeast(String(database.prepare('SELECT sqlite_version()').pluck().get())));
  database.close();
  await writer.close();
  assert.ok(!existsSync(join(dir, 'events.sqlite-wal')));
  assert.deepEqual(
    ['3.51.2', '3.51.3', '3.52.0', '4.0', '3.6.99', '3.51'].map((version) => isAtLeast(version)),
    [false, true, true, true, false, false],
  );
});

test('an event that SQLite refuses is dropped alone', WATCHDOG, async () => {
  // Goal: one bad row neither blocks the queue nor takes its neighbours along; detail that JSON cannot hold is no bad row.
  const dir = freshDir();
  const warnings: string[] = [];
  const writer = openRunWriter(dir, { onWarning: (message) => warnings.push(message) });
  writer.event(created(1));
  writer.event({ ...created(2), message: null as unknown as string });
  const circular: Record<string, unknown> = { big: 3n };
  circular['self'] = circular;
  writer.event({ ...created(3), detail: circular });
  const counts = await writer.close();
  assert.deepEqual([counts.written, counts.dropped], [2, 1]);
  assert.deepEqual(
    readEvents(dir).map((event) => event.envId),
    [1, 3],
  );
  assert.deepEqual(warnings, []);
});

test('on a full disk events wait, then drop and are counted, one warning is given, and writing resumes', WATCHDOG, async (t) => {
  // Goal: a full disk costs what no longer fits the queue and nothing else; the run goes on.
  const disk = mountTinyDisk(t, 2_048);
  if (disk === undefined) return;
  const warnings: string[] = [];
  const writer = openRunWriter(disk.dir, { queueLimit: 2_000, onWarning: (message) => warnings.push(message) });
  writer.event(created(0));
  writer.metric(line(0));
  await writer.flush();
  disk.fill();
  for (let i = 1; i <= 5_000; i++) writer.event(created(i));
  for (let i = 1; i <= 50; i++) writer.metric(line(i));
  await writer.flush();
  await writer.flush();
  const during = writer.counts();
  assert.equal(during.dropped, 3_000, 'what the queue did not hold');
  assert.ok(during.written < 2_001 && during.metricsWritten <= 51, JSON.stringify(during));
  assert.equal(warnings.length, 1, warnings.join('\n'));
  assert.match(warnings[0] ?? '', /SQLITE_FULL|ENOSPC|SQLITE_IOERR/);
  disk.free();
  await writer.flush();
  assert.deepEqual(writer.counts(), { written: 2_001, dropped: 3_000, metricsWritten: 51, metricsDropped: 0 });
  writer.event(created(9_999));
  const counts = await writer.close();
  assert.equal(counts.written + counts.dropped, 5_002);
  assert.equal(readEvents(disk.dir).length, 2_002);
  const text = readFileSync(join(disk.dir, 'metrics.ndjson'), 'utf8').trimEnd();
  assert.deepEqual(
    text.split('\n').map((part) => (JSON.parse(part) as MetricsLine).t_s),
    Array.from({ length: 51 }, (_, i) => i),
  );
  assert.equal(warnings.length, 1, warnings.join('\n'));
});

test('a disk that stays full does not hold up the close, and what waited is counted as dropped', WATCHDOG, async (t) => {
  // Goal: written + dropped = handed in, whatever happened.
  const disk = mountTinyDisk(t, 1_024);
  if (disk === undefined) return;
  const writer = openRunWriter(disk.dir);
  await writer.flush();
  disk.fill();
  for (let i = 0; i < 10_000; i++) writer.event(created(i));
  const counts = await writer.close();
  assert.equal(counts.written + counts.dropped, 10_000);
  assert.ok(counts.dropped > 0);
  disk.free();
  assert.equal(readEvents(disk.dir).length, counts.written);
});

test('flushed events survive kill -9 of the process', WATCHDOG, async (t) => {
  // Goal: an acknowledged flush means that the rows outlive the process.
  const dir = join(freshDir(), 'run');
  const child = spawnChild(t, 'hold-run-folder', [dir, join(LADDER_RUN, 'run.json')]);
  assert.equal(await child.line(), 'holding');
  child.process.kill('SIGKILL');
  await child.ended;
  const ids = readEvents(dir).flatMap((event) => event.envId ?? []);
  assert.deepEqual(
    ids,
    Array.from({ length: 500 }, (_, i) => i),
  );
});

test('the writer thread does not keep a process alive', WATCHDOG, async (t) => {
  // Goal: a supervisor that forgets to close still ends; the test's watchdog is what fails it.
  for (const [mode, said] of [
    ['flush', '{"written":1,"dropped":0,"metricsWritten":0,"metricsDropped":0}'],
    ['none', 'unflushed'],
  ] as const) {
    const child = spawnChild(t, 'write-and-end', [freshDir(), mode]);
    assert.equal(await child.line(), said);
    const { code, stderr } = await child.ended;
    assert.equal(code, 0, stderr);
  }
});

test('a torn last line of metrics is closed off before the next one', () => {
  // Goal: after a kill during a write, a resumed file has one bad line and no more.
  const dir = freshDir();
  writeFileSync(join(dir, 'metrics.ndjson'), '{"t_s":1}\n{"t_s":2');
  const file = openMetricsFile(dir);
  file.append('{"t_s":3}\n');
  file.close();
  assert.equal(readFileSync(join(dir, 'metrics.ndjson'), 'utf8'), '{"t_s":1}\n{"t_s":2\n{"t_s":3}\n');
});
