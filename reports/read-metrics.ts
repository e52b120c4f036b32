// Reads metrics.ndjson for drawing: as many lines as a curve can show, evenly thinned, whatever the run's length. A last line torn by a
// kill, or any line that is no metrics line, is skipped. Bounded memory: the file is read in pieces, two limits of lines are kept.
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { type MetricsLine, metricsLineSchema } from '../harness/contract/metrics.js';

/** More points than a figure has pixels to show them. */
export const MAX_POINTS = 600;
const PIECE_BYTES = 1 << 16;
/** A longer line is no metrics line. */
const MAX_LINE_CHARS = 1 << 20;

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

/** Whole lines only: what stands after the last newline is torn. */
function* linesOf(path: string): Generator<string> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece)) {
      const parts = (rest + decoder.write(piece.subarray(0, read))).split('\n');
      rest = (parts.pop() ?? '').slice(0, MAX_LINE_CHARS);
      for (const part of parts) if (part !== '') yield part;
    }
  } finally {
    closeSync(fd);
  }
}
