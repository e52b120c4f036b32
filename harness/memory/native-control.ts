// The run's control page in shared memory: the reader's bell and one progress line per worker. The supervisor creates it, everyone
// attaches; bounded by 128 + 64 x workers bytes.
import { closeSync } from 'node:fs';
import type { NativeAddon } from '../../native/index.js';
import { EnvladderError } from '../contract/errors.js';
import type { Control } from './interface.js';
import { CONTROL_HEADER, CONTROL_MAGIC, LAYOUT_VERSION, PAGE_BYTES, PROGRESS_LINE_BYTES, roundUp } from './layout.js';
import { translated } from './native-errors.js';
import { PROGRESS_WORDS, readProgress } from './progress-line.js';

/** Size of the page for `workers` lines. */
export function controlBytes(workers: number): number {
  return roundUp(CONTROL_HEADER.progress + workers * PROGRESS_LINE_BYTES, PAGE_BYTES);
}

export function createNativeControl(native: NativeAddon, workers: number): Control {
  const fd = translated('control page', () => native.createObject('envladder:control', controlBytes(workers)));
  return openControl(native, workers, fd, true);
}

/** Throws `bad-segment` when the page belongs to another build or another number of workers. */
export function attachNativeControl(native: NativeAddon, workers: number, fd: number): Control {
  return openControl(native, workers, fd, false);
}

function openControl(native: NativeAddon, workers: number, fd: number, creator: boolean): Control {
  const mapping = translated('control page', () => new native.Mapping(fd, 0, controlBytes(workers)));
  const buffer = mapping.takeBuffer();
  if (creator) writeControl(buffer, workers);
  else checkControl(buffer, workers);
  const bell = new native.Bell(mapping, CONTROL_HEADER.frameBell);
  const lines = Array.from(
    { length: workers },
    (_, i) => new Int32Array(buffer, CONTROL_HEADER.progress + i * PROGRESS_LINE_BYTES, PROGRESS_WORDS),
  );
  const line = (worker: number): Int32Array => {
    const found = lines[worker];
    if (!found) throw new RangeError(`worker ${worker} has no progress line; the page has ${workers}`);
    return found;
  };
  let closed = false;
  return {
    fd,
    progressWords: line,
    progress: (worker) => readProgress(line(worker), worker),
    waitFrames: (timeoutMs) => bell.wait(timeoutMs),
    ringFrames: () => bell.ring(),
    close() {
      if (!closed && creator) closeSync(fd);
      closed = true;
    },
  };
}

function writeControl(buffer: ArrayBuffer, workers: number): void {
  const view = new DataView(buffer);
  view.setBigUint64(CONTROL_HEADER.magic, CONTROL_MAGIC, true);
  view.setUint32(CONTROL_HEADER.layoutVersion, LAYOUT_VERSION, true);
  view.setUint32(CONTROL_HEADER.workers, workers, true);
  const envIds = new Int32Array(buffer);
  for (let i = 0; i < workers; i++) envIds[(CONTROL_HEADER.progress + i * PROGRESS_LINE_BYTES) / 4] = -1;
  // SYNC: Atomics are seq_cst, so also a release: pairs with the load of `ready` in checkControl. Who reads 1 reads everything above.
  Atomics.store(new Int32Array(buffer), CONTROL_HEADER.ready / 4, 1);
}

function checkControl(buffer: ArrayBuffer, workers: number): void {
  const view = new DataView(buffer);
  // SYNC: acquire, pairs with the store of `ready` in writeControl; every other word is read after it.
  const ready = Atomics.load(new Int32Array(buffer), CONTROL_HEADER.ready / 4);
  const found = [
    ready,
    view.getBigUint64(CONTROL_HEADER.magic, true),
    view.getUint32(CONTROL_HEADER.layoutVersion, true),
    view.getUint32(CONTROL_HEADER.workers, true),
  ];
  const needed = [1, CONTROL_MAGIC, LAYOUT_VERSION, workers];
  if (found.every((value, i) => value === needed[i])) return;
  throw new EnvladderError(
    'bad-segment',
    `control page: ready, magic, version, workers are ${found.join(', ')}, expected ${needed.join(', ')}. The processes of one run must come from the same build and plan`,
  );
}
