// Finds a run that is alive and asks it: what `envladder ctl` stands on. A run is alive when the lock of its folder has a living owner,
// whatever its record says.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { askBySocket } from '../bus/ask-by-socket.js';
import type { CtlAnswer, CtlCommand } from '../contract/ctl.js';
import { EnvladderError } from '../contract/errors.js';
import { readHolder } from '../store/folder-lock.js';
import { judgeLiveness } from '../store/process-identity.js';
import { refuseEmpty } from './refuse-empty.js';
import { shownPath } from './shown-path.js';

/** Newest folders looked at: a run goes on for days, but not for a thousand others. */
const MAX_LOOKED_AT = 1_000;

export interface LiveRun {
  /** Absolute. */
  readonly dir: string;
  /** Other runs that are alive too. */
  readonly others: number;
}

function isAlive(dir: string): boolean {
  try {
    const owner = readHolder(dir)?.owner;
    return owner !== undefined && judgeLiveness(owner) !== 'dead';
  } catch {
    return false;
  }
}

/** The run given, or the newest living one under runs/ (ids sort by start time). Throws `run-folder` when there is none. */
export function findLiveRun(given: string | undefined, cwd: string): LiveRun {
  refuseEmpty('--run', given, 'folder', 'give a run folder (runs/ID), or leave --run away for the newest run');
  if (given !== undefined) {
    const dir = resolve(cwd, given);
    if (isAlive(dir)) return { dir, others: 0 };
    throw new EnvladderError(
      'run-folder',
      `${shownPath(dir, cwd)} holds no run that is alive; npm run -s envladder -- report ${given} shows one that has ended`,
      {
        detail: { dir },
      },
    );
  }
  const root = join(cwd, 'runs');
  let names: string[];
  try {
    names = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .slice(-MAX_LOOKED_AT);
  } catch {
    names = [];
  }
  const alive = names.map((name) => join(root, name)).filter(isAlive);
  const dir = alive.at(-1);
  if (dir === undefined) {
    throw new EnvladderError(
      'run-folder',
      `no run under ${shownPath(root, cwd)} is alive: start one (npm run ladder), or name its folder with --run`,
      {
        detail: { root },
      },
    );
  }
  return { dir, others: alive.length - 1 };
}

/** Rejects with `run-folder` when it does not answer. */
export function askRun(run: LiveRun, command: CtlCommand, limitMs?: number): Promise<CtlAnswer> {
  return askBySocket(run.dir, command, limitMs);
}
