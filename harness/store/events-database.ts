// events.sqlite: its schema, its pragmas and the one statement that fills it. Opened by the writer thread, which is the only writer, and once
// before by `openRunWriter`, so that a folder or an SQLite that cannot do it is refused before anything starts.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { EnvladderError } from '../contract/errors.js';
import type { RunEvent } from '../contract/run-events.js';

export const EVENTS_NAME = 'events.sqlite';

/** Older versions can lose or corrupt a WAL database in rare resets (fixed in 3.51.3). */
const SQLITE_AT_LEAST = [3, 51, 3] as const;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  at TEXT NOT NULL,
  run_ms REAL NOT NULL,
  worker INTEGER,
  env_id INTEGER,
  tier INTEGER,
  message TEXT NOT NULL,
  detail TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_type ON events (type, run_ms);
PRAGMA user_version = 1;
`;

/** Longest wait of the writer thread for a lock that somebody else holds; then the rows wait in its queue and it sees to the metrics. */
const BUSY_MS = 1000;
/** The WAL is cut back to this when it starts over: without it, it keeps the size of its worst day. */
export const WAL_REST_BYTES = 1_048_576;

/** One event as the statement's parameters: type, at, run_ms, worker, env_id, tier, message, detail as JSON. */
export type EventRow = readonly [string, string, number, number | null, number | null, number | null, string, string | null];

export interface EventsDatabase {
  /** All rows or none; throws what SQLite says. */
  insert(rows: readonly EventRow[]): void;
  /** Moves the WAL into the file and starts it over, unless a reader is in its way. Never waits. */
  shrinkWal(): void;
  close(): void;
}

/** Opens dir/events.sqlite in WAL mode. Throws `native-missing` without better-sqlite3, `run-folder` where it cannot work. */
export function openEventsDatabase(dir: string): EventsDatabase {
  const path = join(dir, EVENTS_NAME);
  const database = openDatabase(path);
  try {
    const damage = damageIn(database);
    if (damage !== null) throw Object.assign(new Error(damage), { code: 'SQLITE_CORRUPT' });
    database.pragma(`busy_timeout = ${BUSY_MS}`);
    database.pragma(`journal_size_limit = ${WAL_REST_BYTES}`);
    const mode = database.pragma('journal_mode = WAL', { simple: true });
    // NORMAL: a power cut may lose the newest events, a crash or kill of the process none. FULL costs an fsync per batch.
    database.pragma('synchronous = NORMAL');
    if (mode !== 'wal' || database.pragma('synchronous', { simple: true }) !== 1) {
      throw new EnvladderError('run-folder', `${path}: journal mode is ${mode}, WAL is needed: choose a folder on a local disk with --out`);
    }
    database.exec(SCHEMA);
    const statement = database.prepare(
      'INSERT INTO events (type, at, run_ms, worker, env_id, tier, message, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    const insert = database.transaction((rows: readonly EventRow[]) => {
      for (const row of rows) statement.run(row);
    });
    return {
      insert: (rows) => insert.immediate(rows),
      shrinkWal() {
        database.pragma('busy_timeout = 0');
        database.pragma('wal_checkpoint(TRUNCATE)');
        database.pragma(`busy_timeout = ${BUSY_MS}`);
      },
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw refusal(path, error);
  }
}

/** What SQLite finds wrong with the file, or null. Takes as long as the file is big: for one that a run finds when it starts. */
function damageIn(database: BetterSqlite3.Database): string | null {
  const found = String(database.pragma('quick_check(1)', { simple: true }));
  return found === 'ok' ? null : found.split('\n').slice(0, 2).join(' ').replaceAll('*', '').trim();
}

/** An event as a row. Detail that JSON cannot hold is kept as text. */
export function rowOf(event: RunEvent): EventRow {
  const { worker = null, envId = null, tier = null, detail } = event;
  return [event.type, event.at, event.runMs, worker, envId, tier, event.message, detail === undefined ? null : printDetail(detail)];
}

function printDetail(detail: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(detail, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  } catch {
    return JSON.stringify({ unprintable: Object.keys(detail) });
  }
}

function openDatabase(path: string): BetterSqlite3.Database {
  let database: BetterSqlite3.Database;
  try {
    const open = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
    database = new open(path);
  } catch (error) {
    throw refusal(path, error);
  }
  const version = String(database.prepare('SELECT sqlite_version()').pluck().get());
  if (!isAtLeast(version)) {
    database.close();
    throw new EnvladderError(
      'native-missing',
      `SQLite ${version} is too old, ${SQLITE_AT_LEAST.join('.')} is needed: npm ci brings the pinned better-sqlite3`,
    );
  }
  return database;
}

/** Whether an SQLite version has the WAL fix this file relies on. */
export function isAtLeast(version: string, least: readonly number[] = SQLITE_AT_LEAST): boolean {
  const parts = version.split('.').map(Number);
  for (const [i, needed] of least.entries()) {
    const found = parts[i] ?? 0;
    if (found !== needed) return found > needed;
  }
  return true;
}

/** Whether an error, or what caused it, says that the file itself is broken: no waiting helps. */
export function isDamage(error: unknown): boolean {
  const { code = '', detail, cause } = error as { code?: string; detail?: { code?: string }; cause?: unknown };
  return [code, detail?.code ?? ''].some((one) => /^SQLITE_(CORRUPT|NOTADB)/.test(one)) || (cause !== undefined && isDamage(cause));
}

function refusal(path: string, cause: unknown): EnvladderError {
  if (cause instanceof EnvladderError) return cause;
  const code = (cause as { code?: string }).code ?? '';
  const message = (cause as Error).message;
  return code.startsWith('SQLITE_')
    ? new EnvladderError(
        'run-folder',
        `${path} cannot be opened (${code}: ${message}): free space there, or choose another folder with --out`,
        { cause, detail: { path, code } },
      )
    : new EnvladderError('native-missing', `better-sqlite3 cannot be loaded (${message.split('\n')[0]}): run npm rebuild better-sqlite3`, {
        cause,
      });
}
