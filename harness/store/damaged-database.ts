// What becomes of an events.sqlite that is damaged: it is moved aside, with its WAL, for whoever wants to save what is in it, and a new one
// takes its place. At most MOST_KEPT are kept; the last of them is replaced by later ones. Called by the writer alone.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_NAME, type EventsDatabase, isDamage, openEventsDatabase } from './events-database.js';
import type { StoreNews } from './run-writer.js';

const MOST_KEPT = 5;
/** SQLite finds a WAL by this ending; the shared-memory index beside it is made anew by whoever opens it. */
const WAL = '-wal';
const INDEX = '-shm';

export const DAMAGED_NAME = `${EVENTS_NAME}-damaged-`;

/** Moves it out of the way; returns the name it has now. No connection of this process may be open. */
export function moveDamagedAside(dir: string): string {
  let number = 1;
  while (number < MOST_KEPT && existsSync(join(dir, `${DAMAGED_NAME}${number}`))) number++;
  const name = `${DAMAGED_NAME}${number}`;
  rmSync(join(dir, name + WAL), { force: true });
  renameSync(join(dir, EVENTS_NAME), join(dir, name));
  if (existsSync(join(dir, EVENTS_NAME + WAL))) renameSync(join(dir, EVENTS_NAME + WAL), join(dir, name + WAL));
  rmSync(join(dir, EVENTS_NAME + INDEX), { force: true });
  return name;
}

export interface SoundDatabase {
  readonly database: EventsDatabase;
  /** Name of the damaged one that lay there; null = there was none. */
  readonly movedTo: string | null;
  readonly damage: string;
}

/** Opens dir/events.sqlite, moving a damaged one aside first. Throws as `openEventsDatabase` does for everything else. */
export function openSoundDatabase(dir: string): SoundDatabase {
  try {
    return { database: openEventsDatabase(dir), movedTo: null, damage: '' };
  } catch (error) {
    if (!isDamage(error)) throw error;
    const movedTo = moveDamagedAside(dir);
    return {
      database: openEventsDatabase(dir),
      movedTo,
      damage: ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message,
    };
  }
}

/** The event about it. */
export function damageNews(dir: string, movedTo: string, damage: string): StoreNews {
  return {
    type: 'alarm',
    message: `${EVENTS_NAME} is damaged (${damage}): it was moved to ${movedTo}, events from here on are in a new one. Look for the cause (dmesg, the disk); sqlite3 ${movedTo} .recover saves what can be saved`,
    detail: { store: 'damaged', dir, movedTo, damage },
  };
}
