// run.json on disk: checked against the schema, then replaced in one piece (atomic-file.ts). Written by the supervisor after each tier and
// at the stop; read by the next start and, through their own reader, by reports.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import { RUN_RECORD_NAME, type RunRecord, runRecordSchema } from '../contract/run-record.js';
import { type FileIo, writeFileAtomic } from './atomic-file.js';

/** Writes dir/run.json. Throws `bad-record` naming the first field that breaks the schema, `record-lost` when the disk refuses. */
export async function writeRunRecord(dir: string, record: RunRecord, io?: FileIo): Promise<void> {
  const path = join(dir, RUN_RECORD_NAME);
  await writeFileAtomic(path, printRecord(parseRecord(path, record)), io);
}

/** Reads dir/run.json. Undefined when there is none; throws `bad-record` when it cannot be read or is no run record. */
export async function readRunRecord(dir: string): Promise<RunRecord | undefined> {
  const path = join(dir, RUN_RECORD_NAME);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code: errno } = error as NodeJS.ErrnoException;
    if (errno === 'ENOENT') return undefined;
    throw new EnvladderError('bad-record', `${path} cannot be read (${errno ?? (error as Error).message}): point at the folder of a run`, {
      cause: error,
      detail: { path },
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new EnvladderError('bad-record', `${path} is not JSON: ${(cause as Error).message}`, { cause, detail: { path } });
  }
  return parseRecord(path, value);
}

function parseRecord(path: string, value: unknown): RunRecord {
  const parsed = runRecordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new EnvladderError('bad-record', `${path}: ${field === '' ? 'the record' : field}: ${issue?.message ?? 'breaks the schema'}`, {
    detail: { path, field },
  });
}

/** Two spaces of indent, arrays of numbers on one line: histograms stay readable. Newlines inside strings are escaped, so only arrays match. */
function printRecord(record: RunRecord): string {
  const text = JSON.stringify(record, null, 2);
  return `${text.replace(/\[\n\s+(-?[\d.eE+-]+(?:,\n\s+-?[\d.eE+-]+)*)\n\s+\]/g, (_, list: string) => `[${list.replace(/,\n\s+/g, ', ')}]`)}\n`;
}
