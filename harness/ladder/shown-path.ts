// A path as a person would type it from where they are. Pure.
import { relative, resolve } from 'node:path';

/** Relative inside `cwd`, absolute elsewhere. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, resolve(cwd, path));
  return near === '' ? '.' : near.startsWith('..') ? resolve(cwd, path) : near;
}
