// I3: every lifecycle event that was handed to the writer and acknowledged is in events.sqlite, in order and once.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import type { Finding } from '../chaos-row.js';
import type { Rig } from '../rig.js';

export interface StoredEvent {
  readonly id: number;
  readonly type: string;
  readonly run_ms: number;
  readonly worker: number | null;
  readonly env_id: number | null;
  readonly message: string;
  readonly detail: string | null;
}

/** All events of a run folder, oldest first; throws what SQLite says. `live`: its writer is at work and must not be disturbed. */
export function readEvents(dir: string, live = false): { rows: StoredEvent[]; integrity: string } {
  const open = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3;
  const database = new open(join(dir, 'events.sqlite'), { fileMustExist: true, readonly: live });
  try {
    database.pragma('busy_timeout = 5000');
    return {
      rows: database.prepare('SELECT id, type, run_ms, worker, env_id, message, detail FROM events ORDER BY id').all() as StoredEvent[],
      integrity: live ? 'not checked' : String(database.pragma('integrity_check', { simple: true })),
    };
  } finally {
    database.close();
  }
}

export function judgeKept(rig: Rig): Finding {
  const { written, dropped } = rig.writer.counts();
  try {
    const { rows, integrity } = readEvents(rig.dir);
    const same = rows.length === rig.events.length && rows.every((row, i) => row.message === rig.events[i]?.message);
    const ok = integrity === 'ok' && dropped === 0 && same;
    return {
      ok,
      evidence: `${rig.events.length} events, ${written} acknowledged, ${rows.length} read back, ${dropped} dropped, integrity ${integrity}`,
    };
  } catch (error) {
    return { ok: false, evidence: `events.sqlite cannot be read: ${(error as Error).message}` };
  }
}
