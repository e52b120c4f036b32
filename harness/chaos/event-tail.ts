// Follows a run's events.sqlite while its writer is at work: hands out each row once, oldest first. For watchers of runs that last days.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import type { StoredEvent } from './invariants/kept-events.js';

/** Rows of one look; more come with the next. */
const MOST_ROWS = 10_000;

export interface EventTail {
  /** Rows since the last call. Empty while there is no file, or it cannot be read just now. */
  next(): StoredEvent[];
}

export function tailEvents(dir: string): EventTail {
  let lastId = 0;
  return {
    next() {
      const file = join(dir, 'events.sqlite');
      if (!existsSync(file)) return [];
      let database: BetterSqlite3.Database | undefined;
      try {
        database = new (createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3)(file, {
          fileMustExist: true,
          readonly: true,
        });
        const rows = database
          .prepare('SELECT id, type, run_ms, worker, env_id, message, detail FROM events WHERE id > ? ORDER BY id LIMIT ?')
          .all(lastId, MOST_ROWS) as StoredEvent[];
        lastId = rows.at(-1)?.id ?? lastId;
        return rows;
      } catch {
        return [];
      } finally {
        database?.close();
      }
    },
  };
}
