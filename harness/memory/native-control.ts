// The run's control page in shared memory: the reader's bell and one progress line per worker seat, then the learner's. The supervisor
// creates it, everyone attaches; bounded by 128 + 64 x lines bytes.
import { closeSync } from 'node:fs';
import type { NativeAddon, NativeBeat } from '../../native/index.js';
import { EnvladderError } from '../contract/errors.js';
import type { Control } from './control.js';
import { CONTROL_HEADER, CONTROL_MAGIC, LAYOUT_VERSION, PAGE_BYTES, PROGRESS_LINE, PROGRESS_LINE_BYTES, roundUp } from './layout.js';
import { translated } from './native-errors.js';
import { type ProgressLine, progressLine, readProgress } from './progress-line.js';

const lineOffset = (line: number) => CONTROL_HEADER.progress + line * PROGRESS_LINE_BYTES;

/** Size of the page for `lines` lines. */
export function controlBytes(lines: number): number {
  return roundUp(lineOffset(lines), PAGE_BYTES);
}

export function createNativeControl(native: NativeAddon, lines: number): Control {
  const fd = translated('control page', () => native.createObject('envladder:control', controlBytes(lines)));
  return openControl(native, lines, fd, true);
}

/** Throws `bad-segment` when the page belongs to another build or another number of lines. */
export function attachNativeControl(native: NativeAddon, lines: number, fd: number): Control {
  return openControl(native, lines, fd, false);
}

function openControl(native: NativeAddon, lines: number, fd: number, creator: boolean): Control {
  const mapping = translated('control page', () => new native.Mapping(fd, 0, controlBytes(lines)));
  const buffer = mapping.takeBuffer();
  if (creator) writeControl(buffer, lines);
  else checkControl(buffer, lines);
  const bell = new native.Bell(mapping, CONTROL_HEADER.frameBell);
  const views = Array.from({ length: lines }, (_, i) => progressLine(buffer, lineOffset(i)));
  const line = (worker: number): ProgressLine => {
    const found = views[worker];
    if (!found) throw noSuchLine(worker, lines);
    return found;
  };
  const beats = new Map<number, NativeBeat>();
  let closed = false;
  return {
    fd,
    progressWords: (worker) => line(worker).words,
    progress: (worker) => readProgress(line(worker), worker),
    stampWords: (worker) => line(worker).stamps,
    beat(worker, intervalMs) {
      line(worker);
      checkBeat(worker, intervalMs, beats.has(worker), closed);
      const beat = new native.Beat(mapping, lineOffset(worker) + PROGRESS_LINE.nativeMs, intervalMs);
      beats.set(worker, beat);
      return () => {
        beat.stop();
        if (beats.get(worker) === beat) beats.delete(worker);
      };
    },
    waitFrames: (timeoutMs) => bell.wait(timeoutMs),
    ringFrames: () => bell.ring(),
    close() {
      if (closed) return;
      closed = true;
      for (const beat of beats.values()) beat.stop();
      beats.clear();
      if (creator) closeSync(fd);
    },
  };
}

/** A caller asked for a line that the page has not. */
export function noSuchLine(worker: number, lines: number): RangeError {
  return new RangeError(`worker ${worker} has no progress line; the page has ${lines}`);
}

/** Throws for a beat that cannot start: a second one of a line would hide that the first still runs. */
export function checkBeat(worker: number, intervalMs: number, beating: boolean, closed: boolean): void {
  if (closed) throw new Error('the control page is closed; nothing beats on it any more');
  if (beating) throw new Error(`line ${worker} beats already in this process; end that beat first`);
  if (!Number.isInteger(intervalMs) || intervalMs < 1 || intervalMs > 60_000) {
    throw new RangeError(`beat interval ${intervalMs} ms is not a whole number of 1..60000`);
  }
}

function writeControl(buffer: ArrayBuffer, lines: number): void {
  const view = new DataView(buffer);
  view.setBigUint64(CONTROL_HEADER.magic, CONTROL_MAGIC, true);
  view.setUint32(CONTROL_HEADER.layoutVersion, LAYOUT_VERSION, true);
  view.setUint32(CONTROL_HEADER.lines, lines, true);
  for (let i = 0; i < lines; i++) view.setInt32(lineOffset(i) + PROGRESS_LINE.envId, -1, true);
  // SYNC: Atomics are seq_cst, so also a release: pairs with the load of `ready` in checkControl. Who reads 1 reads everything above.
  Atomics.store(new Int32Array(buffer), CONTROL_HEADER.ready / 4, 1);
}

function checkControl(buffer: ArrayBuffer, lines: number): void {
  const view = new DataView(buffer);
  // SYNC: acquire, pairs with the store of `ready` in writeControl; every other word is read after it.
  const ready = Atomics.load(new Int32Array(buffer), CONTROL_HEADER.ready / 4);
  const found = [
    ready,
    view.getBigUint64(CONTROL_HEADER.magic, true),
    view.getUint32(CONTROL_HEADER.layoutVersion, true),
    view.getUint32(CONTROL_HEADER.lines, true),
  ];
  const needed = [1, CONTROL_MAGIC, LAYOUT_VERSION, lines];
  if (found.every((value, i) => value === needed[i])) return;
  throw new EnvladderError(
    'bad-segment',
    `control page: ready, magic, version, lines are ${found.join(', ')}, expected ${needed.join(', ')}. The processes of one run must come from the same build and plan`,
  );
}
