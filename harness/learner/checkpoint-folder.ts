// The folder that checkpoints lie in: which are complete, and what may go. A folder named UNFINISHED was left by a process that died while
// it wrote or removed one: never loaded, swept by the next writer. Read by both sides, changed by checkpoint-write only.
import { existsSync, readdirSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KEPT_CHECKPOINTS, UNFINISHED } from './checkpoint-format.js';

const newestFirst = (names: readonly string[]): string[] =>
  names.filter((name) => /^\d{12,}$/.test(name)).sort((a, b) => Number(b) - Number(a));

/** Complete checkpoints in `folder`, newest first. */
export function listCheckpoints(folder: string): string[] {
  return existsSync(folder) ? newestFirst(readdirSync(folder)) : [];
}

/** Makes the names in `path` outlive a power loss. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what was never finished. */
export async function sweepUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Keeps `written` and the newest before it, KEPT_CHECKPOINTS together. Newer ones stay: they were refused when this process resumed from
 * an older one, and go once the steps pass them. One that goes loses its name first, so that a half-removed one is never a candidate.
 */
export async function pruneCheckpoints(folder: string, written: string): Promise<void> {
  const names = newestFirst(await readdir(folder));
  for (const name of names.slice(names.indexOf(written)).slice(KEPT_CHECKPOINTS)) {
    await rename(join(folder, name), join(folder, name + UNFINISHED));
  }
  await sweepUnfinished(folder);
}
