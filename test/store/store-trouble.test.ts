import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type BetterSqlite3 from 'better-sqlite3';
import { damagePages } from '../../harness/chaos/damage-pages.js';
import { holdDatabase } from '../../harness/chaos/hold-database.js';
import { until } from '../../harness/chaos/until.js';
import type { RunEvent } from '../../harness/contract/run-events.js';
import { DAMAGED_NAME } from '../../harness/store/damaged-database.js';
import { WAL_REST_BYTES } from '../../harness/store/events-database.js';
import type { StoreNews } from '../../harness/store/run-writer.js';
import { openRunWriter } from '../../harness/store/threaded-run-writer.js';
import { WAL_ALARM_BYTES, watchWal } from '../../harness/store/wal-watch.js';
import { mountTinyDisk } from './tiny-disk.js';

const WATCHDOG = { timeout: 120_000 };
const PATIENCE_MS = 60_000;
const event = (number: number): RunEvent => ({ type: 'warning', at: '', runMs: number, message: `event ${number}` });

function openStore(dir = mkdtempSync(join(tmpdir(), 'envladder-trouble-'))) {
  const news: StoreNews[] = [];
  const writer = openRunWriter(dir, { onNews: (one) => news.push(one) });
  return { dir, news, writer, path: join(dir, 'events.sqlite'), told: (type: StoreNews['type']) => news.some((one) => one.type === type) };
}

function messages(path: string): string[] {
  const open = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
  const database = new open(path, { readonly: true });
  try {
    return database.prepare('SELECT message FROM events ORDER BY id').pluck().all() as string[];
  } finally {
    database.close();
  }
}

test(
  'while another process holds the lock events wait and an alarm is told; then they are written in order and it is cleared',
  WATCHDOG,
  async () => {
    // Goal: FAULTS 42: a locked database costs nothing but time, and the one who hands events in never waits.
    const { writer, path, news, told } = openStore();
    writer.event(event(0));
    await writer.flush();
    const holder = await holdDatabase(path, 'write');
    for (let i = 1; i <= 100; i++) writer.event(event(i));
    assert.ok(await until(() => told('alarm'), PATIENCE_MS), 'no alarm');
    assert.match(news[0]?.message ?? '', /BUSY|locked/);
    assert.equal(writer.counts().written, 1);
    await holder.release();
    assert.ok(await until(() => told('alarm-cleared'), PATIENCE_MS), 'not cleared');
    const { written, dropped } = await writer.close();
    assert.deepEqual([written, dropped], [101, 0]);
    assert.deepEqual(
      messages(path),
      Array.from({ length: 101 }, (_, i) => `event ${i}`),
    );
    assert.deepEqual(
      news.map(({ type }) => type),
      ['alarm', 'alarm-cleared'],
    );
  },
);

test('a reader that keeps the WAL from starting over is told of, and the WAL shrinks once it is gone', WATCHDOG, async () => {
  // Goal: FAULTS 43: growth is noticed, nothing is lost, and the size settles without a further event.
  const { writer, path, told } = openStore();
  writer.event(event(0));
  await writer.flush();
  const holder = await holdDatabase(path, 'read');
  const detail = { text: 'x'.repeat(60_000) };
  let sent = 1;
  const alarmed = await until(async () => {
    for (let i = 0; i < 50; i++) writer.event({ ...event(sent++), detail });
    await writer.flush();
    return told('alarm');
  }, PATIENCE_MS);
  assert.ok(alarmed, 'no alarm');
  assert.ok(statSync(`${path}-wal`).size > WAL_ALARM_BYTES);
  assert.ok(!told('alarm-cleared'));
  await holder.release();
  assert.ok(await until(() => told('alarm-cleared'), PATIENCE_MS), 'not cleared');
  assert.ok(statSync(`${path}-wal`).size <= WAL_REST_BYTES);
  assert.deepEqual(await writer.close(), { written: sent, dropped: 0, metricsWritten: 0, metricsDropped: 0 });
});

test('the size of the WAL is told once, and cleared only when it has really shrunk', () => {
  // Goal: no chatter around the limit; the writer is asked to shrink it, at most once a second.
  let bytes = 0;
  let tries = 0;
  const watch = watchWal('/nowhere', () => bytes);
  const look = (nowMs: number) => watch.look(nowMs, () => tries++)?.type ?? null;
  assert.equal(look(0), null);
  assert.equal(watch.pending(), false);
  bytes = WAL_ALARM_BYTES + 1;
  assert.equal(look(1), 'alarm');
  assert.equal(look(2), null);
  assert.equal(tries, 1);
  bytes = WAL_ALARM_BYTES - 1;
  assert.equal(look(1500), null);
  assert.equal(tries, 2);
  bytes = WAL_REST_BYTES + 1;
  assert.equal(look(3000), null);
  assert.ok(watch.pending(), 'it is looked at until it is over');
  bytes = 0;
  assert.equal(look(4500), 'alarm-cleared');
  assert.equal(watch.pending(), false);
});

test('a database that is damaged while it is written is moved aside, and events go on in a new one', WATCHDOG, async () => {
  // Goal: FAULTS 44: damage costs the old file, not the run: told once, nothing handed in afterwards is lost.
  const { dir, writer, path, told, news } = openStore();
  for (let i = 0; i < 500; i++) writer.event(event(i));
  await writer.flush();
  await (await holdDatabase(path, 'settle')).release();
  damagePages(path);
  writer.event(event(500));
  await writer.flush();
  assert.ok(told('alarm'));
  writer.event(event(501));
  assert.equal((await writer.close()).dropped, 0);
  assert.deepEqual(messages(path), ['event 500', 'event 501']);
  assert.ok(existsSync(join(dir, `${DAMAGED_NAME}1`)));
  assert.equal(news.length, 1);
  assert.match(news[0]?.message ?? '', /damaged-1/);
});

test('a file that is no database, or a damaged one, is moved aside at the start', WATCHDOG, async () => {
  // Goal: FAULTS 44: a start does not fail for what an earlier one left.
  for (const damage of ['garbage', 'pages'] as const) {
    const first = openStore();
    for (let i = 0; i < 500; i++) first.writer.event(event(i));
    await first.writer.close();
    if (damage === 'garbage') writeFileSync(first.path, Buffer.alloc(20_000, 0x5a));
    else damagePages(first.path);
    const { dir, writer, path, told } = openStore(first.dir);
    writer.event(event(7));
    assert.ok(await until(() => told('alarm'), PATIENCE_MS), damage);
    assert.equal((await writer.close()).written, 1);
    assert.deepEqual(messages(path), ['event 7']);
    assert.ok(existsSync(join(dir, `${DAMAGED_NAME}1`)), damage);
  }
});

test('a full disk is an alarm, and cleared when there is room', WATCHDOG, async (t) => {
  // Goal: FAULTS 36: the store tells both, and the last try at the close can still tell that it worked.
  const disk = mountTinyDisk(t, 2_048);
  if (disk === undefined) return;
  const { writer, told, news } = openStore(disk.dir);
  writer.event(event(0));
  await writer.flush();
  disk.fill();
  for (let i = 1; i < 2000; i++) writer.event(event(i));
  assert.ok(await until(() => told('alarm'), PATIENCE_MS));
  disk.free();
  assert.equal((await writer.close()).written, 2000);
  assert.deepEqual(
    news.map(({ type }) => type),
    ['alarm', 'alarm-cleared'],
  );
});
