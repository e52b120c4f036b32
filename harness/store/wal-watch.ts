// Keeps the WAL of events.sqlite bounded, or says that it cannot: a reader that holds one transaction open for long stops SQLite from starting
// the file over. Asked by the writer thread after each write and now and then.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_NAME, WAL_REST_BYTES } from './events-database.js';
import type { StoreNews } from './run-writer.js';

/** Four times what SQLite lets it grow to by itself (1,000 pages of 4 KiB). */
export const WAL_ALARM_BYTES = 16_777_216;
/** From here on the writer tries to start it over by itself. */
const WAL_TRY_BYTES = WAL_ALARM_BYTES / 2;
/** Between two tries: each reads the whole WAL as far as the reader allows. */
const TRY_EVERY_MS = 1000;

export interface WalWatch {
  /** Looks, and tries `shrink` when that is due; returns what has to be told. */
  look(nowMs: number, shrink: () => void): StoreNews | null;
  /** Whether it has to be looked at again although nothing is written. */
  pending(): boolean;
}

export function watchWal(dir: string, sizeOf: (path: string) => number = sizeOrZero): WalWatch {
  const path = join(dir, `${EVENTS_NAME}-wal`);
  let triedMs = Number.NEGATIVE_INFINITY;
  let alarmed = false;
  let bytes = 0;
  return {
    look(nowMs, shrink) {
      bytes = sizeOf(path);
      if ((alarmed || bytes > WAL_TRY_BYTES) && nowMs - triedMs >= TRY_EVERY_MS) {
        triedMs = nowMs;
        shrink();
        bytes = sizeOf(path);
      }
      if (!alarmed && bytes > WAL_ALARM_BYTES) {
        alarmed = true;
        return {
          type: 'alarm',
          message: `${EVENTS_NAME}-wal has grown to ${megabytes(bytes)}: another process reads ${EVENTS_NAME} in one long transaction; end that reader (fuser ${path})`,
          detail: { store: 'wal', bytes, limit: WAL_ALARM_BYTES },
        };
      }
      if (alarmed && bytes <= WAL_REST_BYTES) {
        alarmed = false;
        return { type: 'alarm-cleared', message: `${EVENTS_NAME}-wal is back at ${megabytes(bytes)}`, detail: { store: 'wal', bytes } };
      }
      return null;
    },
    pending: () => alarmed || bytes > WAL_TRY_BYTES,
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function sizeOrZero(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
