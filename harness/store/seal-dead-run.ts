// Gives the record of a run whose supervisor was killed its end: state failed, invalid, exit code 4, the death itself among the deaths.
// Called by the next start. Everything the dead run did write stays as it is.
import { open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EXIT } from '../contract/exit-codes.js';
import type { RunRecord } from '../contract/run-record.js';
import { isLock, readHolder, takeLock } from './folder-lock.js';
import { judgeLiveness, type ProcessIdentity } from './process-identity.js';
import { readRunRecord, writeRunRecord } from './run-record-file.js';

/** Room for some dozen lines of metrics. */
const TAIL_BYTES = 65_536;

/**
 * Seals the run in `dir` if its record says `running` and its supervisor is gone. Returns the sealed record, or null when there is nothing to
 * seal: no record, a run that ended, or an owner that lives or cannot be judged from here.
 */
export async function sealDeadRun(dir: string): Promise<RunRecord | null> {
  const path = resolve(dir);
  const record = await readRunRecord(path);
  if (record?.run.state !== 'running' || judgeLiveness(ownerOf(path, record)) !== 'dead') return null;
  const lock = takeLock(path);
  if (!isLock(lock)) return null;
  try {
    const current = await readRunRecord(path);
    return current === undefined ? null : await sealHeldRun(path, current);
  } finally {
    lock.release();
  }
}

/** The same for a caller that holds the folder's lock, which proves the owner dead unless the folder had no lock at all. */
export async function sealHeldRun(path: string, record: RunRecord): Promise<RunRecord | null> {
  if (record.run.state !== 'running' || judgeLiveness(record.run.supervisor) === 'alive') return null;
  const sealed = await sealRecord(path, record);
  await writeRunRecord(path, sealed);
  return sealed;
}

function ownerOf(path: string, record: RunRecord): ProcessIdentity {
  return readHolder(path)?.owner ?? record.run.supervisor;
}

async function sealRecord(path: string, record: RunRecord): Promise<RunRecord> {
  const lastSeconds = Math.max(record.run.seconds, await lastMetricSeconds(path));
  const { pid } = record.run.supervisor;
  return {
    ...record,
    run: { ...record.run, state: 'failed', ended_at: await lastSignOfLife(path), seconds: lastSeconds },
    deaths: [
      ...record.deaths,
      {
        role: 'supervisor',
        worker: null,
        pid,
        cause: 'died without stopping',
        last_env_id: null,
        last_operation: null,
        stderr_tail: '',
        restarted: false,
        run_s: lastSeconds,
      },
    ],
    validity: {
      verdict: 'invalid',
      reasons: [
        ...record.validity.reasons,
        {
          code: 'supervisor-died',
          message: `the supervisor (process ${pid}) died without stopping, ${lastSeconds.toFixed(0)} s or more into the run`,
          advice:
            'look for a kill in the kernel log (out of memory: dmesg) or a closed terminal, then run again; checkpoints in the folder can be resumed from',
        },
      ],
    },
    verdict: 'invalid',
    exit_code: EXIT.invalid,
  };
}

/** Newest change of a file that the run wrote once a second: the closest thing to a time of death. */
async function lastSignOfLife(path: string): Promise<string> {
  const times = await Promise.all(
    ['run.json', 'metrics.ndjson', 'events.sqlite', 'events.sqlite-wal'].map((name) =>
      stat(join(path, name)).then(
        (facts) => facts.mtimeMs,
        () => 0,
      ),
    ),
  );
  return new Date(Math.max(...times)).toISOString();
}

/** t_s of the last whole line of metrics.ndjson; 0 without one. Reads the tail only: six days are 500,000 lines. */
async function lastMetricSeconds(path: string): Promise<number> {
  const handle = await open(join(path, 'metrics.ndjson'), 'r').catch(() => undefined);
  if (handle === undefined) return 0;
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(TAIL_BYTES), position: Math.max(0, size - TAIL_BYTES) });
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n').reverse()) {
      const seconds = secondsOf(line);
      if (seconds !== undefined) return seconds;
    }
    return 0;
  } finally {
    await handle.close();
  }
}

/** Undefined for a line torn by the kill, or cut by the start of the tail. */
function secondsOf(line: string): number | undefined {
  try {
    const seconds = (JSON.parse(line) as { t_s?: unknown }).t_s;
    return typeof seconds === 'number' ? seconds : undefined;
  } catch {
    return undefined;
  }
}
