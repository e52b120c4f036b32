// What the supervisor's thread and the writer thread say to each other. Counts travel in shared words, so that the bound of the queue
// holds even while the supervisor's event loop is busy and reads no message.
import type { EventRow } from './events-database.js';
import type { StoreNews } from './run-writer.js';

export interface WriterStart {
  readonly dir: string;
  /** BigInt64Array of COUNTER words. Only the writer thread adds. */
  readonly counters: SharedArrayBuffer;
}

/** Index of each counter. */
export const COUNTER = { eventsWritten: 0, eventsLost: 1, metricsWritten: 2, metricsLost: 3 } as const;
export const COUNTERS = 4;

export type ToWriter =
  | { readonly type: 'write'; readonly rows: readonly EventRow[]; readonly lines: readonly string[] }
  | { readonly type: 'flush'; readonly id: number }
  | { readonly type: 'close'; readonly id: number };

export type FromWriter =
  | { readonly type: 'done'; readonly id: number }
  /** Writing began to fail. */
  | { readonly type: 'outage'; readonly message: string }
  | { readonly type: 'news'; readonly news: StoreNews };
