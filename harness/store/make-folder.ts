// mkdir -p that ends. Node's own (mkdirSync recursive) loops for ever where the parent exists and mkdir still says ENOENT, as below /proc.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './atomic-file.js';

/** Creates `path` and its missing parents; a folder that is there already is fine. Throws what mkdir(2) says. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    if (errnoOf(error) !== 'ENOENT' || parent === path || existsSync(parent)) throw error;
    makeFolder(parent);
    makeFolder(path);
  }
}
