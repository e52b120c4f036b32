// Creates the run folder and its parents one by one. Node's recursive mkdir never returns where a kernel file system (/proc) answers
// ENOENT for a folder whose parent exists; this one gives up with the reason.
import { mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EnvladderError } from '../contract/errors.js';

function refuse(dir: string, at: string, why: string): EnvladderError {
  return new EnvladderError('run-folder', `run folder ${dir} cannot be created: ${at}: ${why}; choose another folder with --out`, {
    detail: { path: dir, at },
  });
}

/** Undefined for what is not there, also below a file (ENOTDIR). */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Throws `run-folder` naming the part of the path that cannot be. */
export function makeFolder(dir: string): void {
  const missing: string[] = [];
  for (let at = resolve(dir); ; at = dirname(at)) {
    const facts = look(at);
    if (facts?.isDirectory() === true) break;
    if (facts !== undefined) throw refuse(dir, at, 'is a file, not a folder');
    missing.push(at);
    if (at === dirname(at)) break;
  }
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at);
    } catch (error) {
      const errno = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      if (errno !== 'EEXIST')
        throw refuse(
          dir,
          at,
          errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS' ? `not writable (${errno})` : `cannot be created (${errno})`,
        );
    }
  }
}
