// The one place where a run's record, events and metrics are kept and written. Nothing here throws for a disk that refuses: the run goes
// on, the loss is said once, counted, and tried again at the end. Bounded: queues by the store, lists below by their constants.

import { EnvladderError } from '../contract/errors.js';
import type { MetricsLine } from '../contract/metrics.js';
import type { RunEvent, RunEventType } from '../contract/run-events.js';
import type { Death, RunRecord } from '../contract/run-record.js';
import { schedulingGrantsSchema } from '../contract/scheduling-grant.js';
import type { RunWriter } from '../store/run-writer.js';
import type { CrewEvent } from '../supervisor/crew.js';

/** Newest entries of lists in run.json that could grow without end on a run of days. All of them are in events.sqlite. */
const MAX_DEATHS_IN_RECORD = 1000;
const MAX_CHECKPOINTS_IN_RECORD = 1000;

export interface Journal {
  readonly record: RunRecord;
  /** Seconds since the run began, on the monotonic clock. */
  runSeconds(): number;
  /** Index of the tier that events and deaths belong to; null between tiers. */
  setTier(tier: number | null): void;
  event(event: CrewEvent): void;
  note(type: RunEventType, message: string, detail?: Readonly<Record<string, unknown>>): void;
  metric(line: MetricsLine): void;
  death(death: Death): void;
  /** Deaths that no tier has claimed yet. */
  unclaimedDeaths(): readonly Death[];
  /** The same, claimed: each death is handed out once, whenever it happened. */
  claimDeaths(): readonly Death[];
  checkpoint(checkpoint: Omit<RunRecord['checkpoints'][number], 'run_s'>): void;
  /** Writes run.json; a failure is kept in `lost`, and is forgotten once a later write succeeds. */
  save(): Promise<void>;
  /** What is missing on the disk, as a sentence; null when everything handed in so far could be written. */
  lost(): string | null;
  /** Flushes and closes the event writer, and counts what it dropped. */
  closeWriter(): Promise<void>;
}

export interface JournalOptions {
  readonly dir: string;
  readonly record: RunRecord;
  readonly writer: RunWriter;
  readonly writeRecord: (dir: string, record: RunRecord) => Promise<void>;
  readonly onNotice: (message: string) => void;
  readonly monotonicMs: () => number;
}

/** Keeps the newest `limit` of a list. */
function pushBounded<Item>(list: Item[], item: Item, limit: number): void {
  list.push(item);
  if (list.length > limit) list.splice(0, list.length - limit);
}

export function openJournal(options: JournalOptions): Journal {
  const { dir, record, writer } = options;
  const beganMs = options.monotonicMs();
  const runMs = (): number => options.monotonicMs() - beganMs;
  let tier: number | null = null;
  let unclaimed: Death[] = [];
  let recordProblem: string | null = null;

  const write = (event: CrewEvent): void => {
    const stamped: RunEvent = { ...event, at: new Date().toISOString(), runMs: runMs(), ...(tier === null ? {} : { tier }) };
    writer.event(stamped);
  };

  async function save(): Promise<void> {
    record.run.seconds = runMs() / 1000;
    const counts = writer.counts();
    record.events = { written: counts.written, dropped: counts.dropped };
    try {
      await options.writeRecord(dir, record);
      recordProblem = null;
    } catch (error) {
      if (!(error instanceof EnvladderError) || error.code !== 'record-lost') throw error;
      if (recordProblem === null)
        options.onNotice(`${error.message}. The run goes on; the record is written again after the next tier and at the end`);
      recordProblem = error.message;
    }
  }

  return {
    record,
    runSeconds: () => runMs() / 1000,
    setTier: (index) => {
      tier = index;
    },
    event: (event) => {
      // Every telling holds all grants so far.
      if (event.type === 'scheduling' && event.detail?.grants !== undefined)
        record.scheduling = schedulingGrantsSchema.parse(event.detail.grants);
      write(event);
    },
    note: (type, message, detail) => write({ type, message, ...(detail === undefined ? {} : { detail }) }),
    metric: (line) => writer.metric(line),
    death: (death) => {
      const stamped = { ...death, run_s: runMs() / 1000 };
      pushBounded(record.deaths, stamped, MAX_DEATHS_IN_RECORD);
      pushBounded(unclaimed, stamped, MAX_DEATHS_IN_RECORD);
    },
    unclaimedDeaths: () => unclaimed,
    claimDeaths: () => {
      const claimed = unclaimed;
      unclaimed = [];
      return claimed;
    },
    checkpoint: (checkpoint) => pushBounded(record.checkpoints, { ...checkpoint, run_s: runMs() / 1000 }, MAX_CHECKPOINTS_IN_RECORD),
    save,
    lost: () => {
      const { dropped, metricsDropped } = writer.counts();
      const parts = [
        recordProblem,
        dropped > 0 ? `${dropped} events were not written` : null,
        metricsDropped > 0 ? `${metricsDropped} lines of metrics were not written` : null,
      ];
      const lost = parts.filter((part) => part !== null);
      return lost.length === 0 ? null : lost.join('; ');
    },
    closeWriter: async () => {
      const counts = await writer.close();
      record.events = { written: counts.written, dropped: counts.dropped };
    },
  };
}
