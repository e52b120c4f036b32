// The writer thread: the only writer of events.sqlite and metrics.ndjson. What the disk refuses stays queued here (the sender bounds
// it) and is tried again, so that a short outage loses nothing; what is left at the close is counted as lost.
import { parentPort, workerData } from 'node:worker_threads';
import { type EventRow, type EventsDatabase, openEventsDatabase } from './events-database.js';
import { type MetricsFile, openMetricsFile } from './metrics-file.js';
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
let outage = false;
let retryTimer: NodeJS.Timeout | undefined;

const add = (counter: number, count: number) => Atomics.add(counters, counter, BigInt(count));
const send = (message: FromWriter) => parentPort?.postMessage(message);

/** Whether trying again later can help, as against a row that SQLite will never take. */
function isDiskTrouble(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return !code.startsWith('SQLITE_') || /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL)/.test(code);
}

function writeRows(): void {
  while (rows.length > 0) {
    database ??= openEventsDatabase(start.dir);
    const chunk = rows.slice(0, ROWS_PER_TRANSACTION);
    try {
      database.insert(chunk);
      add(COUNTER.eventsWritten, chunk.length);
    } catch (error) {
      if (isDiskTrouble(error)) throw error;
      writeOneByOne(database, chunk);
    }
    rows.splice(0, chunk.length);
  }
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
  const failures = [writeRows, writeLines].flatMap((write) => {
    try {
      write();
      return [];
    } catch (error) {
      return [error as Error & { code?: string }];
    }
  });
  const [failure] = failures;
  if (failure === undefined) {
    outage = false;
    return;
  }
  if (!outage) send({ type: 'outage', message: `events and metrics cannot be written to ${start.dir} (${describe(failure)})` });
  outage = true;
  retryTimer = setTimeout(drain, RETRY_MS);
}

function describe(failure: Error & { code?: string }): string {
  const { code, message } = failure;
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}

function close(): void {
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
      if (!outage) drain();
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
