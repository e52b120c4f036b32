// Who may watch a run from inside its process without being able to touch it: the live page. It is told once that the run has begun and
// hears every event that goes into the record; the rest it looks up when it wants to.
import type { LiveEvent, LiveSource } from '../live/live-feed.js';
import type { RunWriter } from '../store/run-writer.js';

export interface LadderObserver {
  begin(source: LiveSource): void;
  note(event: LiveEvent): void;
}

/** `writer`, overheard. */
export function observedWriter(writer: RunWriter, observer: LadderObserver | undefined): RunWriter {
  if (observer === undefined) return writer;
  return {
    event(event) {
      writer.event(event);
      observer.note({ type: event.type, message: event.message, runSeconds: event.runMs / 1000 });
    },
    metric: (line) => writer.metric(line),
    counts: () => writer.counts(),
    flush: () => writer.flush(),
    close: () => writer.close(),
  };
}
