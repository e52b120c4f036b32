// metrics.ndjson: appended whole lines only. A line that the disk took in part is cut off again, so that the file never holds half a line
// in its middle; only a kill during a write can leave one at the end, which readers skip.
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export const METRICS_NAME = 'metrics.ndjson';

export interface MetricsFile {
  /** Appends `text` (whole lines) or nothing; throws what the file system throws. */
  append(text: string): void;
  close(): void;
}

export function openMetricsFile(dir: string): MetricsFile {
  const fd = openSync(join(dir, METRICS_NAME), 'a+');
  let size = fstatSync(fd).size;
  const append = (text: string) => {
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      size += bytes.length;
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  };
  if (!endsWithNewline(fd, size)) append('\n');
  return { append, close: () => closeSync(fd) };
}

function endsWithNewline(fd: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 10;
}
