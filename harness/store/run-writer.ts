// What the supervisor sees of the run's stream of events and metrics: two calls that never block, never throw and never grow without
// bound. Two implementations: `openRunWriter` (a thread writes events.sqlite and metrics.ndjson) and `openMemoryRunWriter` (arrays).
import type { MetricsLine } from '../contract/metrics.js';
import type { RunEvent } from '../contract/run-events.js';

/** Lines of metrics waiting for the disk: an hour of them. */
export const MAX_QUEUED_METRICS = 3_600;

export interface RunWriterCounts {
  /** Events in the file, and events that will never be. written + dropped + waiting = events handed in. */
  readonly written: number;
  readonly dropped: number;
  readonly metricsWritten: number;
  readonly metricsDropped: number;
}

export interface RunWriter {
  /** Queues an event; when the queue is full the event is dropped and counted. */
  event(event: RunEvent): void;
  metric(line: MetricsLine): void;
  counts(): RunWriterCounts;
  /** Resolves when everything handed in so far was written (it then survives a kill) or could not be written now. Never rejects. */
  flush(): Promise<void>;
  /** Writes what it can, counts the rest as dropped, closes the files. Later calls drop. */
  close(): Promise<RunWriterCounts>;
}

/** What happens to the store itself, as an event of the run: its trouble begins (alarm), its trouble is over (alarm-cleared). */
export interface StoreNews {
  readonly type: 'alarm' | 'alarm-cleared';
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface RunWriterOptions {
  /** Events waiting for the writer; default MAX_QUEUED_EVENTS. */
  readonly queueLimit?: number;
  /** Called once when writing begins to fail, and again only after it had worked in between. */
  readonly onWarning?: (message: string) => void;
  /** Hand it back in as an event: what could not be written while it lasted is written after it. */
  readonly onNews?: (news: StoreNews) => void;
}
