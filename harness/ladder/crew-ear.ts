// What the ladder makes of the crew's events: all of them go into the journal and to whoever watches; a few change the record or what tiers
// are judged by.
import type { RunRecord } from '../contract/run-record.js';
import { schedulingGrantsSchema } from '../contract/scheduling-grant.js';
import type { CrewEvent } from '../supervisor/crew.js';
import type { Journal } from './run-journal.js';

export interface CrewEarOptions {
  readonly journal: Journal;
  /** The run folder: checkpoints inside it are recorded relative to it. */
  readonly dir: string;
  readonly listeners: readonly ((event: CrewEvent) => void)[];
}

export interface CrewEar {
  readonly hear: (event: CrewEvent) => void;
  /** Kept up to date. */
  readonly facts: { readonly lostRanges: number; readonly firstFailure: string | null };
}

export function createCrewEar({ journal, dir, listeners }: CrewEarOptions): CrewEar {
  const facts = { lostRanges: 0, firstFailure: null as string | null };
  return {
    facts,
    hear(event) {
      journal.event(event);
      for (const listen of listeners) listen(event);
      switch (event.type) {
        case 'range-lost':
          facts.lostRanges++;
          return;
        case 'env-failed':
        case 'reset-failed':
          facts.firstFailure ??= event.message;
          return;
        case 'checkpoint':
          keepCheckpoint(journal, event, dir);
          return;
        case 'scheduling':
          keepGrants(journal.record, event);
          return;
        default:
          return;
      }
    },
  };
}

function keepCheckpoint(journal: Journal, event: CrewEvent, dir: string): void {
  const { path, bytes, reason } = event.detail ?? {};
  const absolute = String(path ?? '');
  journal.checkpoint({
    path: absolute.startsWith(`${dir}/`) ? absolute.slice(dir.length + 1) : absolute,
    bytes: typeof bytes === 'number' ? bytes : 0,
    reason: String(reason ?? ''),
  });
}

/** The event holds all grants so far: the newest says everything. */
function keepGrants(record: RunRecord, event: CrewEvent): void {
  const grants = schedulingGrantsSchema.safeParse(event.detail?.grants);
  if (grants.success) record.scheduling = grants.data;
}
