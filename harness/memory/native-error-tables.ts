// Error tables in a memfd of their own: the supervisor creates them, workers and learner attach, so that what one of them said outlives it.
// All pages are taken at creation: an error must find room also when memory is short.
import { closeSync } from 'node:fs';
import type { NativeAddon } from '../../native/index.js';
import { EnvladderError } from '../contract/errors.js';
import type { ErrorTables } from './control.js';
import { errorTableBytes, openErrorTables } from './error-tables.js';
import { translated } from './native-errors.js';
import { sizeOfObject } from './object-size.js';

const WHERE = 'error tables';

export function createNativeErrors(native: NativeAddon, lines: number): ErrorTables {
  const bytes = errorTableBytes(lines);
  const fd = translated(WHERE, () => native.createObject('envladder:errors', bytes));
  const errno = native.allocateRange(fd, 0, bytes, 1);
  if (errno !== 0) {
    closeSync(fd);
    throw new EnvladderError('out-of-memory', `${WHERE}: the kernel gave no pages for ${bytes} bytes of shared memory (errno ${errno})`);
  }
  return openTables(native, lines, fd, true);
}

/** Throws `bad-segment` when the tables belong to another build or another number of lines. */
export function attachNativeErrors(native: NativeAddon, lines: number, fd: number): ErrorTables {
  const bytes = errorTableBytes(lines);
  const found = sizeOfObject(fd, WHERE);
  if (found !== bytes) {
    throw new EnvladderError(
      'bad-segment',
      `${WHERE}: fd ${fd} holds ${found} bytes, ${lines} lines need ${bytes}. The processes of one run must come from the same build and plan`,
    );
  }
  return openTables(native, lines, fd, false);
}

function openTables(native: NativeAddon, lines: number, fd: number, creator: boolean): ErrorTables {
  const mapping = translated(WHERE, () => new native.Mapping(fd, 0, errorTableBytes(lines)));
  const tables = openErrorTables(mapping.takeBuffer(), lines, creator, () => native.monotonicNs() / 1e6);
  let closed = false;
  return {
    fd,
    ...tables,
    close() {
      if (!closed && creator) closeSync(fd);
      closed = true;
    },
  };
}
