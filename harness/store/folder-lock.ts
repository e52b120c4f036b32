// The lock of a run folder: files supervisor.<n>.lock, of which the highest number counts. A lock is born complete, by link(2) of a
// finished file, and is never overwritten: a dead owner's lock n is succeeded by n + 1, which only one process can create. So two
// starts cannot both win, also when both found the same dead owner, and nobody ever deletes a lock that might be a live one.
import { linkSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEMP_SUFFIX } from './atomic-file.js';
import { judgeLiveness, ownIdentity, type ProcessIdentity } from './process-identity.js';

const LOCK_NAME = /^supervisor\.(\d+)\.lock$/;

/** How the file begins from which a lock is linked; it lives for microseconds. */
export const LOCK_TEMP = '.lock.';

/** Successive dead owners that one start steps over; more means that something creates locks as fast as they are read. */
const MAX_TRIES = 64;

let lockNumber = 0;

export interface FolderLock {
  readonly owner: ProcessIdentity;
  release(): void;
}

export interface LockHolder {
  readonly number: number;
  /** Undefined when the file holds no identity (written by something else). */
  readonly owner: ProcessIdentity | undefined;
}

/** The lock that counts, or undefined in a folder without one. */
export function readHolder(dir: string): LockHolder | undefined {
  const numbers = readdirSync(dir)
    .flatMap((name) => LOCK_NAME.exec(name)?.[1] ?? [])
    .map(Number);
  if (numbers.length === 0) return undefined;
  const number = Math.max(...numbers);
  try {
    return { number, owner: parseIdentity(readFileSync(lockPath(dir, number), 'utf8')) };
  } catch (error) {
    // Released between listing and reading: look again; each round means that another owner came and went.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return readHolder(dir);
    throw error;
  }
}

/** Takes the lock, or returns the holder that is alive or cannot be judged. Throws what the file system throws. */
export function takeLock(dir: string): FolderLock | LockHolder {
  const owner = ownIdentity();
  const temp = join(dir, `${LOCK_TEMP}${owner.pid}.${lockNumber++}${TEMP_SUFFIX}`);
  writeFileSync(temp, `${JSON.stringify(owner)}\n`);
  try {
    for (let tries = 0; ; tries++) {
      const holder = readHolder(dir);
      const dead = holder === undefined || (holder.owner !== undefined && judgeLiveness(holder.owner) === 'dead');
      if (!dead || tries === MAX_TRIES) return holder ?? { number: 0, owner: undefined };
      const number = (holder?.number ?? 0) + 1;
      try {
        linkSync(temp, lockPath(dir, number));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      return { owner, release: () => rmSync(lockPath(dir, number), { force: true }) };
    }
  } finally {
    try {
      unlinkSync(temp);
    } catch {
      // Swept with other temporary files.
    }
  }
}

export function isLock(result: FolderLock | LockHolder): result is FolderLock {
  return 'release' in result;
}

function lockPath(dir: string, number: number): string {
  return join(dir, `supervisor.${number}.lock`);
}

function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(text) as Partial<ProcessIdentity>;
    const complete = typeof value.pid === 'number' && typeof value.start_ticks === 'number' && typeof value.boot_id === 'string';
    return complete ? (value as ProcessIdentity) : undefined;
  } catch {
    return undefined;
  }
}
