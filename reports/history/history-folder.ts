// The history on disk: a folder of NDJSON files that only ever grow. A line goes in by one appending write and a flush; what a power cut
// tore is skipped by readers and never glued to the next line. Several programs may append at once.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { entryOf, type HistoryEntry, historyEntrySchema, historyFileName } from './history-entry.js';

/** A line is some 3 kB: room for ten thousand runs of one plan. */
const MAX_FILE_BYTES = 64 * 2 ** 20;
const NEWLINE = 10;

export interface History {
  readonly file: string;
  /** Oldest first, each run once. */
  readonly entries: readonly HistoryEntry[];
  /** Lines that are no entry: torn, or of a newer version. */
  readonly skippedLines: number;
}

function parseLine(line: string): HistoryEntry | null {
  try {
    return historyEntrySchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/** Reads one file. Of a run that stands in it twice (two programs appended it at once) the first line counts. */
export function readHistoryFile(path: string): History {
  const bytes = statSync(path).size;
  if (bytes > MAX_FILE_BYTES) {
    throw new EnvladderError(
      'bad-record',
      `${path}: ${bytes} bytes, a history file has at most ${MAX_FILE_BYTES}: move it away and start anew`,
    );
  }
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const byRun = new Map<string, HistoryEntry>();
  let skippedLines = 0;
  for (const line of lines) {
    const entry = parseLine(line);
    if (entry === null) skippedLines++;
    else if (!byRun.has(entry.run)) byRun.set(entry.run, entry);
  }
  const entries = [...byRun.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { file: path, entries, skippedLines };
}

/** All histories in `dir`, by file name; none when the folder is not there. */
export function readHistories(dir: string): History[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => readHistoryFile(join(dir, name)));
}

function endsTorn(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}

/** One write, flushed. O_APPEND keeps two writers' lines apart. */
function appendLines(path: string, lines: string): void {
  try {
    const descriptor = openSync(path, 'a+');
    try {
      const data = Buffer.from(`${endsTorn(descriptor) ? '\n' : ''}${lines}`);
      const written = writeSync(descriptor, data);
      if (written !== data.length) throw new Error(`only ${written} of ${data.length} bytes were written`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new EnvladderError(
      'record-lost',
      `${path} could not be appended to (${reason}): free space there or choose another folder with --dir`,
      {
        cause,
      },
    );
  }
}

/** Appends runs to the files they belong in. All or none: a run that is still going on, or is in the history already, refuses the lot. */
export function appendRuns(dir: string, records: readonly RunRecord[]): void {
  const known = new Map(readHistories(dir).flatMap(({ file, entries }) => entries.map((entry) => [entry.run, file] as const)));
  const linesByFile = new Map<string, string>();
  for (const record of records) {
    const { id, state } = record.run;
    if (state === 'running')
      throw new EnvladderError(
        'bad-usage',
        `run ${id} has not ended; add it when it has (a killed one: npm run -s envladder -- report DIR)`,
      );
    const before = known.get(id);
    if (before !== undefined) throw new EnvladderError('bad-usage', `run ${id} is already in ${before}; nothing was added: leave it out`);
    const entry = entryOf(record);
    const path = join(dir, historyFileName(entry));
    known.set(id, path);
    linesByFile.set(path, `${linesByFile.get(path) ?? ''}${JSON.stringify(entry)}\n`);
  }
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw new EnvladderError(
      'bad-usage',
      `--dir ${dir} cannot be created (${(cause as NodeJS.ErrnoException).code}); choose another folder`,
      { cause },
    );
  }
  for (const [path, lines] of linesByFile) appendLines(path, lines);
}
