// Finds the runs a person points at: run folders, or folders of run folders. The only impure part of a comparison.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { readReportModel } from '../model.js';

/** Runs of one side of a comparison: the bootstrap sorts every pair of runs 2,000 times, some 0.5 s a metric at this bound. */
export const MAX_SIDE_RUNS = 64;

/** Run folders at `path`: itself, or the folders in it that hold a run.json, by name. */
export function runFoldersAt(path: string): string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new EnvladderError('bad-usage', `${path}: no such folder; give a run folder (runs/ID) or a folder of run folders`);
  }
  if (existsSync(join(path, 'run.json'))) return [path];
  const inside = readdirSync(path)
    .sort()
    .map((name) => join(path, name))
    .filter((folder) => existsSync(join(folder, 'run.json')));
  if (inside.length > 0) return inside;
  throw new EnvladderError('bad-usage', `${path}: neither it nor a folder in it holds a run.json; give a run folder (runs/ID)`);
}

/** Records of all runs at `paths`, each once. Throws `bad-record` for a broken one, `bad-usage` for none or more than `most`. */
export function readRuns(paths: readonly string[], most = MAX_SIDE_RUNS): RunRecord[] {
  const folders = [...new Set(paths.flatMap(runFoldersAt))];
  if (folders.length > most) {
    throw new EnvladderError('bad-usage', `${folders.length} runs at once; at most ${most} are read: name fewer folders`);
  }
  const records = folders.map((folder) => readReportModel(folder).record);
  const seen = new Map<string, string>();
  records.forEach((record, i) => {
    const folder = folders[i] as string;
    const before = seen.get(record.run.id);
    if (before !== undefined) {
      throw new EnvladderError(
        'bad-usage',
        `${before} and ${folder} hold the same run ${record.run.id}; a run counts once: remove the copy`,
      );
    }
    seen.set(record.run.id, folder);
  });
  return records;
}
