// Runs under runs/ whose supervisor was killed get their end written at the next start: a record that still says `running` would lie.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sealDeadRun } from '../store/seal-dead-run.js';

/** Newest folders looked at: a folder of thousands of runs must not delay a start. */
const MAX_LOOKED_AT = 50;

/** Seals dead runs beside `outDir`; returns the folders that were sealed. Never throws: it is a courtesy to older runs. */
export async function sealDeadSiblings(outDir: string): Promise<string[]> {
  const root = dirname(outDir);
  let names: string[];
  try {
    names = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .slice(-MAX_LOOKED_AT);
  } catch {
    return [];
  }
  const sealed: string[] = [];
  for (const name of names) {
    const dir = join(root, name);
    if (dir === outDir) continue;
    const record = await sealDeadRun(dir).catch(() => null);
    if (record !== null) sealed.push(dir);
  }
  return sealed;
}

/** The same for one folder: `envladder report DIR` shows the end of a run that never wrote it. */
export async function sealIfDead(dir: string): Promise<boolean> {
  return (await sealDeadRun(dir)) !== null;
}
