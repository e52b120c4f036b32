// Reads metrics.ndjson for drawing: as many lines as a curve can show, evenly thinned, whatever the run's length. A last line torn by a
// kill, or any line that is no metrics line, is skipped. Bounded memory: the file is read in pieces, two limits of lines are kept.
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { EnvladderError } from '../harness/contract/errors.js';
import { type MetricsLine, metricsLineSchema } from '../harness/contract/metrics.js';

/** More points than a figure has pixels to show them. */
export const MAX_POINTS = 600;
const PIECE_BYTES = 1 << 16;
/** A longer line is no metrics line: one with 200 kinds has 20,000 characters. */
const MAX_LINE_CHARS = 1 << 16;

/** Lines in file order; the first and the last readable one are always among them. Empty when the file is missing. */
export function readMetrics(path: string, limit = MAX_POINTS): MetricsLine[] {
  const kept: string[] = [];
  let stride = 1;
  let seen = 0;
  let last = '';
  for (const line of linesOf(path)) {
    last = line;
    if (seen++ % stride !== 0) continue;
    kept.push(line);
    if (kept.length < 2 * limit) continue;
    for (let i = 0; i < limit; i++) kept[i] = kept[2 * i] ?? '';
    kept.length = limit;
    stride *= 2;
  }
  if (last !== '' && kept.at(-1) !== last) kept.push(last);
  return kept.flatMap(parseLine);
}

function parseLine(line: string): MetricsLine[] {
  try {
    const parsed = metricsLineSchema.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** Whole lines only: what stands after the last newline is torn. Lines beyond the limit are passed over without being kept. */
function* linesOf(path: string): Generator<string> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw unreadable(path, error);
  }
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    let tooLong = false;
    for (let read = readPiece(fd, piece, path); read > 0; read = readPiece(fd, piece, path)) {
      const parts = decoder.write(piece.subarray(0, read)).split('\n');
      const torn = parts.pop() ?? '';
      for (const part of parts) {
        if (!tooLong && rest.length + part.length > 0 && rest.length + part.length <= MAX_LINE_CHARS) yield rest + part;
        rest = '';
        tooLong = false;
      }
      if (tooLong || rest.length + torn.length > MAX_LINE_CHARS) {
        tooLong = true;
        rest = '';
      } else rest += torn;
    }
  } finally {
    closeSync(fd);
  }
}

function readPiece(fd: number, piece: Buffer, path: string): number {
  try {
    return readSync(fd, piece);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): EnvladderError {
  const errno = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  return new EnvladderError(
    'bad-record',
    `${path} cannot be read (${errno}): make it a readable file, or remove it to render without curves`,
    {
      cause,
      detail: { path, errno },
    },
  );
}
