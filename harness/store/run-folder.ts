// The run folder and who may write in it. `openRunFolder` is the first thing a run does with the disk: it creates the folder, takes its
// lock and refuses a folder that holds another run, so that no record is ever overwritten.
import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import { errnoOf, TEMP_SUFFIX } from './atomic-file.js';
import { type FolderLock, isLock, LOCK_TEMP, type LockHolder, readHolder, takeLock } from './folder-lock.js';
import { makeFolder } from './make-folder.js';
import type { ProcessIdentity } from './process-identity.js';
import { readRunRecord } from './run-record-file.js';
import { sealHeldRun } from './seal-dead-run.js';

export interface RunFolder {
  /** Absolute. */
  readonly dir: string;
  /** This process, as it belongs into `run.supervisor` of the record. */
  readonly owner: ProcessIdentity;
  /** Gives the folder up; call after the last write. */
  release(): void;
}

/** Names that a run writes. Without run.json or a lock they belong to something else and are not overwritten. */
const RUN_FILES = ['events.sqlite', 'metrics.ndjson', 'checkpoints', 'report.md', 'report.html'];

/**
 * Creates `dir` (and its parents) and takes it for this process. Throws `run-folder` when it cannot be written, holds a finished run, or
 * its supervisor is alive. A folder whose run died is sealed (seal-dead-run.ts) and then refused with detail {sealed: true}; one whose
 * run died before its first record is emptied of that run's files and taken.
 */
export async function openRunFolder(dir: string): Promise<RunFolder> {
  const path = resolve(dir);
  const lock = lockFolder(path);
  try {
    await refuseUsedFolder(path);
    sweepTemporaries(path);
    return { dir: path, owner: lock.owner, release: () => lock.release() };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function lockFolder(path: string): FolderLock {
  let result: FolderLock | LockHolder;
  try {
    makeFolder(path);
    result = takeLock(path);
  } catch (cause) {
    const errno = errnoOf(cause);
    const advice = errno === 'ENOSPC' || errno === 'EDQUOT' ? 'free space there' : 'make it writable';
    throw new EnvladderError(
      'run-folder',
      `run folder ${path} cannot be written (${errno}): ${advice}, or choose another folder with --out`,
      {
        cause,
        detail: { path, errno },
      },
    );
  }
  if (isLock(result)) return result;
  const who = result.owner === undefined ? 'an unknown process' : `process ${result.owner.pid}`;
  throw new EnvladderError(
    'run-folder',
    `run folder ${path} is in use by ${who} (supervisor.${result.number}.lock): wait for that run to end, or choose another folder with --out`,
    { detail: { path, pid: result.owner?.pid ?? null } },
  );
}

/** With the lock held. */
async function refuseUsedFolder(path: string): Promise<void> {
  const record = await readRunRecord(path).catch((cause: unknown) => {
    throw new EnvladderError(
      'run-folder',
      `run folder ${path} holds a run.json that is no run record (${(cause as Error).message}): choose another folder with --out`,
      {
        cause,
        detail: { path },
      },
    );
  });
  if (record !== undefined) {
    const sealed = await sealHeldRun(path, record);
    const what = sealed === null ? `a ${record.run.state} run` : 'a run whose supervisor died without stopping; it is now marked failed';
    throw new EnvladderError('run-folder', `run folder ${path} holds ${what} (${record.run.id}): choose another folder with --out`, {
      detail: { path, run: record.run.id, sealed: sealed !== null },
    });
  }
  const held = readdirSync(path).filter((name) => RUN_FILES.some((file) => name === file || name.startsWith(`${file}-`)));
  if (held.length === 0) return;
  if ((readHolder(path)?.number ?? 1) === 1) {
    throw new EnvladderError(
      'run-folder',
      `run folder ${path} holds ${held.join(', ')} but no run.json: choose another folder with --out`,
      {
        detail: { path, held },
      },
    );
  }
  // A lock before ours: that run died before its first record, so that nothing of it can be reported.
  for (const name of held) rmSync(join(path, name), { recursive: true, force: true });
}

/** Unfinished writes of a killed owner. Another start's lock-to-be is not touched. */
function sweepTemporaries(path: string): void {
  for (const name of readdirSync(path)) {
    if (name.startsWith('.') && name.endsWith(TEMP_SUFFIX) && !name.startsWith(LOCK_TEMP)) rmSync(join(path, name), { force: true });
  }
}
