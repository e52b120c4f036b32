// What --resume may name: a checkpoint, a folder of checkpoints, or the run folder that holds one. The learner picks the newest valid
// checkpoint in it and checks its hashes; here only what is plainly not there is refused.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import { refuseEmpty } from './refuse-empty.js';

/** Absolute path for the learner. Throws `bad-usage` for an empty path, `bad-checkpoint` when nothing is there. */
export function resumeFolder(given: string, cwd: string): string {
  refuseEmpty('--resume', given, 'folder', 'give a run folder (runs/ID), or leave --resume away to start anew');
  const path = resolve(cwd, given);
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new EnvladderError(
      'bad-checkpoint',
      `--resume ${given}: no such folder; give a run folder (runs/ID) or a checkpoint folder (runs/ID/checkpoints)`,
      {
        detail: { path },
      },
    );
  }
  const inside = join(path, 'checkpoints');
  if (existsSync(inside)) return inside;
  if (existsSync(join(path, 'run.json'))) {
    throw new EnvladderError('bad-checkpoint', `--resume ${given}: that run wrote no checkpoint; start without --resume`, {
      detail: { path },
    });
  }
  return path;
}
