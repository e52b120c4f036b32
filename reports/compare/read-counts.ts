// Counts of a build, where a side has them: counts.json in the folder of its runs. Lower is better for all of them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_COUNTS_NAME, type BuildCount, buildCountsSchema } from '../../harness/contract/build-counts.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { oneLine } from '../quantity.js';

/** The bench writes some 2 kB. */
const MAX_BYTES = 2 ** 20;

/** Counts beside the runs at `paths`; none where there is no file. Throws `bad-record` for a damaged one. */
export function readCounts(paths: readonly string[]): BuildCount[] {
  return paths.map((path) => join(path, BUILD_COUNTS_NAME)).flatMap((file) => (existsSync(file) ? countsIn(file) : []));
}

function countsIn(file: string): BuildCount[] {
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const { results } = buildCountsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return results.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
  } catch (cause) {
    const problem = oneLine((cause as Error).message, 160);
    throw new EnvladderError(
      'bad-record',
      `${file}: no counts of a build (${problem}); take it away to compare runs alone, or make it again with \`envladder compare --base\``,
      { cause, detail: { file } },
    );
  }
}
