// The one way a file of the run folder is replaced: written beside it, flushed to the disk, renamed over it, folder flushed. A reader
// sees the old or the new content, never a part, also after a power cut. What cannot be written leaves the old file as it was.
import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';

/** What `writeFileAtomic` needs of a disk; tests hand in one that fails. */
export interface FileIo {
  readonly open: (path: string, flags: string) => Promise<FileIoHandle>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
}

export interface FileIoHandle {
  writeFile(data: string | Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

const DISK: FileIo = { open, rename, unlink };

/** Suffix of files that a kill may leave behind; `openRunFolder` and `sealDeadRun` sweep them. */
export const TEMP_SUFFIX = '.tmp';

let tempNumber = 0;

/** Errno name of a failed file operation, or what stands in for it. */
export function errnoOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

/** Replaces `path` with `data`. Throws `record-lost` with detail {path, errno, step}; the old content is then still there. */
export async function writeFileAtomic(path: string, data: string | Uint8Array, io: FileIo = DISK): Promise<void> {
  const folder = dirname(path);
  const temp = join(folder, `.${basename(path)}.${process.pid}.${tempNumber++}${TEMP_SUFFIX}`);
  let step = 'creating a file beside it';
  try {
    const handle = await io.open(temp, 'wx');
    try {
      step = 'writing';
      await handle.writeFile(data);
      step = 'flushing to the disk';
      await handle.sync();
    } finally {
      await handle.close();
    }
    step = 'renaming';
    await io.rename(temp, path);
    step = 'flushing the folder';
    await syncFolder(folder, io);
  } catch (cause) {
    await io.unlink(temp).catch(() => undefined);
    const errno = errnoOf(cause);
    throw new EnvladderError('record-lost', `${path} could not be written (${step}: ${errno}); ${adviceFor(errno)}`, {
      cause,
      detail: { path, errno, step },
    });
  }
}

async function syncFolder(folder: string, io: FileIo): Promise<void> {
  const handle = await io.open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems have no fsync for folders; their renames are as durable as they get.
    if (errnoOf(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

function adviceFor(errno: string): string {
  switch (errno) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'free space on its disk, or choose a folder on another one with --out';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'make its folder writable, or choose another one with --out';
    case 'ENOENT':
      return 'its folder is gone: leave the run folder in place while the run lasts';
    default:
      return 'check the disk (dmesg, free space), or choose another folder with --out';
  }
}
