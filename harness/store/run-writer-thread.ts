// The writer thread: the only writer of events.sqlite and metrics.ndjson. What the disk refuses stays queued here (the sender bounds
// it) and is tried again, so that a short outage loses nothing; what is left at the close is counted as lost.
import { parentPort, workerData } from 'node:worker_threads';
import { damageNews, moveDamagedAside, openSoundDatabase } from './damaged-database.js';
import { type EventRow, type EventsDatabase, isDamage } from './events-database.js';
import { type MetricsFile, openMetricsFile } from './metrics-file.js';
import type { StoreNews } from './run-writer.js';
import { watchWal } from './wal-watch.js';
import { COUNTER, type FromWriter, type ToWriter, type WriterStart } from './writer-protocol.js';

/** Rows per transaction: long enough that the commit is cheap, short enough that a failed one is cheap too. */
const ROWS_PER_TRANSACTION = 2_000;
/** Pause between tries while the disk refuses. */
const RETRY_MS = 500;

const start = workerData as WriterStart;
const counters = new BigInt64Array(start.counters);
const rows: EventRow[] = [];
const lines: string[] = [];
let database: EventsDatabase | undefined;
let metrics: MetricsFile | undefined;
/** When writing began to fail. */
let outageMs: number | null = null;
/** From here on there is nobody who could have news written. */
let closing = false;
let retryTimer: NodeJS.Timeout | undefined;
const wal = watchWal(start.dir);

const add = (counter: number, count: number) => Atomics.add(counters, counter, BigInt(count));
const send = (message: FromWriter) => parentPort?.postMessage(message);
const tell = (news: StoreNews) => {
  if (!closing) send({ type: 'news', news });
};

/** Whether trying again later can help, as against a row that SQLite will never take. */
function isDiskTrouble(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return !code.startsWith('SQLITE_') || /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL)/.test(code);
}

function writeRows(): void {
  while (rows.length > 0) {
    const chunk = rows.slice(0, ROWS_PER_TRANSACTION);
    try {
      insert(opened(), chunk);
    } catch (error) {
      if (!isDamage(error)) throw error;
      replaceDamaged(error as Error);
      insert(opened(), chunk);
    }
    rows.splice(0, chunk.length);
  }
}

function opened(): EventsDatabase {
  if (database !== undefined) return database;
  const found = openSoundDatabase(start.dir);
  if (found.movedTo !== null) tell(damageNews(start.dir, found.movedTo, found.damage));
  database = found.database;
  return database;
}

function insert(into: EventsDatabase, chunk: readonly EventRow[]): void {
  try {
    into.insert(chunk);
    add(COUNTER.eventsWritten, chunk.length);
  } catch (error) {
    if (isDiskTrouble(error) || isDamage(error)) throw error;
    writeOneByOne(into, chunk);
  }
}

/** The rows of the failed transaction are in neither file yet. */
function replaceDamaged(damage: Error): void {
  try {
    database?.close();
  } catch {
    // What it could not take is in the WAL that is moved with it.
  }
  database = undefined;
  const movedTo = moveDamagedAside(start.dir);
  tell(damageNews(start.dir, movedTo, damage.message));
}

/** One bad row must not take its neighbours with it. */
function writeOneByOne(into: EventsDatabase, chunk: readonly EventRow[]): void {
  for (const row of chunk) {
    try {
      into.insert([row]);
      add(COUNTER.eventsWritten, 1);
    } catch {
      add(COUNTER.eventsLost, 1);
    }
  }
}

function writeLines(): void {
  if (lines.length === 0) return;
  metrics ??= openMetricsFile(start.dir);
  metrics.append(lines.join(''));
  add(COUNTER.metricsWritten, lines.length);
  lines.length = 0;
}

function drain(): void {
  clearTimeout(retryTimer);
  retryTimer = undefined;
  const failures = [writeRows, writeLines, lookAtWal].flatMap((write) => {
    try {
      write();
      return [];
    } catch (error) {
      return [error as Error & { code?: string }];
    }
  });
  const [failure] = failures;
  if (failure === undefined) tellBack();
  else tellOutage(failure);
  if (failure !== undefined || wal.pending()) retryTimer = setTimeout(drain, RETRY_MS);
}

function lookAtWal(): void {
  const news = wal.look(performance.now(), () => database?.shrinkWal());
  if (news !== null) tell(news);
}

function tellOutage(failure: Error & { code?: string }): void {
  if (outageMs !== null) return;
  outageMs = performance.now();
  const what = `events and metrics cannot be written to ${start.dir} (${describe(failure)})`;
  send({ type: 'outage', message: what });
  const code = failure.code ?? '';
  const advice = /BUSY|LOCKED/.test(code) ? 'end the process that holds it' : 'free space on that disk';
  tell({ type: 'alarm', message: `${what}: they wait in memory; ${advice}`, detail: { store: 'outage', code } });
}

function tellBack(): void {
  if (outageMs === null) return;
  const seconds = (performance.now() - outageMs) / 1000;
  outageMs = null;
  const message = `events and metrics are written to ${start.dir} again, after ${seconds.toFixed(1)} s`;
  tell({ type: 'alarm-cleared', message, detail: { store: 'outage', seconds } });
}

function describe(failure: Error & { code?: string }): string {
  const { code, message } = failure;
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}

function close(): void {
  closing = true;
  drain();
  clearTimeout(retryTimer);
  add(COUNTER.eventsLost, rows.splice(0).length);
  add(COUNTER.metricsLost, lines.splice(0).length);
  for (const file of [database, metrics]) {
    try {
      file?.close();
    } catch {
      // A full disk may refuse the last checkpoint; the WAL beside the file holds what it did not take.
    }
  }
}

parentPort?.on('message', (message: ToWriter) => {
  switch (message.type) {
    case 'write':
      for (const row of message.rows) rows.push(row);
      for (const line of message.lines) lines.push(line);
      if (outageMs === null) drain();
      return;
    case 'flush':
      drain();
      send({ type: 'done', id: message.id });
      return;
    case 'close':
      close();
      send({ type: 'done', id: message.id });
      parentPort?.close();
  }
});
