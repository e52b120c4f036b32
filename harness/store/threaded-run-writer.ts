// The run writer that a real run uses: queues on the supervisor's side, a thread with SQLite on the other (run-writer-thread.ts).
// One message per turn of the event loop carries everything that came up in it.
import { Worker } from 'node:worker_threads';
import { MAX_QUEUED_EVENTS } from '../contract/limits.js';
import { damageNews, openSoundDatabase } from './damaged-database.js';
import { type EventRow, rowOf } from './events-database.js';
import { MAX_QUEUED_METRICS, type RunWriter, type RunWriterCounts, type RunWriterOptions } from './run-writer.js';
import { COUNTER, COUNTERS, type FromWriter, type ToWriter, type WriterStart } from './writer-protocol.js';

/** Rows that are sent on within one turn of the event loop, so that a long turn does not hold them all. */
const ROWS_PER_MESSAGE = 4_096;

/** The thread's file. From source, a thread does not inherit tsx from its process: a line of script registers it first. */
function threadEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./run-writer-thread.js', import.meta.url);
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const entry = JSON.stringify(new URL('./run-writer-thread.ts', import.meta.url).href);
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${entry});`)}`);
}

/**
 * Opens (or creates) events.sqlite and metrics.ndjson in `dir`. Throws `run-folder` or `native-missing` at once when the database cannot
 * be opened; one that is damaged is moved aside. The thread does not keep the process alive; call `close` to lose nothing.
 */
export function openRunWriter(dir: string, options: RunWriterOptions = {}): RunWriter {
  const { database, movedTo, damage } = openSoundDatabase(dir);
  database.close();
  const queueLimit = options.queueLimit ?? MAX_QUEUED_EVENTS;
  const shared = new SharedArrayBuffer(COUNTERS * 8);
  const counters = new BigInt64Array(shared);
  const workerData: WriterStart = { dir, counters: shared };
  const thread = new Worker(threadEntry(), { workerData, name: 'run-writer' });

  const waiting = new Map<number, () => void>();
  const handed = { events: 0, metrics: 0 };
  const refused = { events: 0, metrics: 0 };
  let rows: EventRow[] = [];
  let lines: string[] = [];
  let scheduled = false;
  let ended = false;
  let nextId = 0;

  const read = (counter: number) => Number(Atomics.load(counters, counter));
  const settled = () => ({
    events: read(COUNTER.eventsWritten) + read(COUNTER.eventsLost),
    metrics: read(COUNTER.metricsWritten) + read(COUNTER.metricsLost),
  });
  const counts = (): RunWriterCounts => {
    const done = settled();
    return {
      written: read(COUNTER.eventsWritten),
      dropped: refused.events + read(COUNTER.eventsLost) + (ended ? handed.events - done.events : 0),
      metricsWritten: read(COUNTER.metricsWritten),
      metricsDropped: refused.metrics + read(COUNTER.metricsLost) + (ended ? handed.metrics - done.metrics : 0),
    };
  };

  const send = (message: ToWriter) => thread.postMessage(message);
  const post = () => {
    scheduled = false;
    if (rows.length + lines.length === 0 || ended) return;
    send({ type: 'write', rows, lines });
    rows = [];
    lines = [];
  };
  const schedule = () => {
    if (rows.length >= ROWS_PER_MESSAGE) return post();
    if (scheduled) return;
    scheduled = true;
    setImmediate(post);
  };
  const ask = (type: 'flush' | 'close') =>
    new Promise<void>((resolve) => {
      if (ended) return resolve();
      post();
      const id = nextId++;
      waiting.set(id, resolve);
      thread.ref();
      send({ type, id });
    });
  const answer = (id: number) => {
    waiting.get(id)?.();
    waiting.delete(id);
    if (waiting.size === 0) thread.unref();
  };
  const end = () => {
    ended = true;
    for (const id of [...waiting.keys()]) answer(id);
  };

  thread.on('message', (message: FromWriter) => {
    if (message.type === 'done') answer(message.id);
    else if (message.type === 'news') options.onNews?.(message.news);
    else options.onWarning?.(`${message.message}; they are kept in memory and then dropped and counted: free space on that disk`);
  });
  thread.on('error', (error: Error) => {
    end();
    options.onWarning?.(
      `the writer of events and metrics in ${dir} died (${error.message}); everything from here on is dropped and counted`,
    );
  });
  thread.on('exit', end);
  // After the listeners: adding one for messages takes the thread up again.
  thread.unref();
  // Not before the caller has what this returns.
  if (movedTo !== null) setImmediate(() => options.onNews?.(damageNews(dir, movedTo, damage)));

  return {
    event(event) {
      if (ended || handed.events - settled().events >= queueLimit) {
        refused.events += 1;
        return;
      }
      handed.events += 1;
      rows.push(rowOf(event));
      schedule();
    },
    metric(line) {
      if (ended || handed.metrics - settled().metrics >= MAX_QUEUED_METRICS) {
        refused.metrics += 1;
        return;
      }
      handed.metrics += 1;
      lines.push(`${JSON.stringify(line)}\n`);
      schedule();
    },
    counts,
    flush: () => ask('flush'),
    async close() {
      // What the store has to say after a last try is written too.
      await ask('flush');
      await ask('close');
      ended = true;
      return counts();
    },
  };
}
