// In-memory twin of the run writer, for tests of everything above it. Same queue, same counts, same order; writes at the end of the turn.
import { MAX_QUEUED_EVENTS } from '../contract/limits.js';
import type { MetricsLine } from '../contract/metrics.js';
import type { RunEvent } from '../contract/run-events.js';
import { MAX_QUEUED_METRICS, type RunWriter, type RunWriterOptions } from './run-writer.js';

export interface MemoryRunWriter extends RunWriter {
  readonly events: readonly RunEvent[];
  readonly metrics: readonly MetricsLine[];
}

interface Stream<Item> {
  readonly waiting: Item[];
  readonly written: Item[];
  dropped: number;
}

export function openMemoryRunWriter(options: RunWriterOptions = {}): MemoryRunWriter {
  const events: Stream<RunEvent> = { waiting: [], written: [], dropped: 0 };
  const metrics: Stream<MetricsLine> = { waiting: [], written: [], dropped: 0 };
  let closed = false;
  let scheduled = false;

  const drain = () => {
    scheduled = false;
    events.written.push(...events.waiting.splice(0));
    metrics.written.push(...metrics.waiting.splice(0));
  };
  const put = <Item>(stream: Stream<Item>, item: Item, limit: number) => {
    if (closed || stream.waiting.length >= limit) {
      stream.dropped += 1;
      return;
    }
    stream.waiting.push(item);
    if (!scheduled) {
      scheduled = true;
      setImmediate(drain);
    }
  };
  const counts = () => ({
    written: events.written.length,
    dropped: events.dropped,
    metricsWritten: metrics.written.length,
    metricsDropped: metrics.dropped,
  });
  return {
    events: events.written,
    metrics: metrics.written,
    event: (event) => put(events, event, options.queueLimit ?? MAX_QUEUED_EVENTS),
    metric: (line) => put(metrics, line, MAX_QUEUED_METRICS),
    counts,
    flush: async () => drain(),
    close: async () => {
      drain();
      closed = true;
      return counts();
    },
  };
}
