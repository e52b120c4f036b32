// Tables of errors by kind in shared memory that the supervisor owns, so that what a process said before it was killed is still there.
// One table of 32 cells per line of the control page, one writer per line, readers anywhere. Counts are exact: the sum of the counts of a
// line's cells plus `lost` is the number of errors its writers ever added. A restarted worker goes on in its predecessor's table.
import type { ErrorRecord } from '../contract/error-record.js';
import { EnvladderError } from '../contract/errors.js';
import type { ErrorTables } from './control.js';
import {
  bumpCell,
  type CellWords,
  cellHolds,
  cellKey,
  cellState,
  cellWords,
  ERROR_CELL_BYTES,
  lastUsOf,
  readCell,
  rewriteCell,
} from './error-cell.js';
import { fingerprintOf } from './error-fingerprint.js';

/** Kinds of error kept per line. A worker runs a few env kinds with four operations each; a flood of more kinds shows in `lost`. */
export const ERROR_CELLS = 32;

const MAGIC = 0x72726561; // "aerr"
const VERSION = 1;
const PAGE_BYTES = 4096;
/** Line heads have cache lines of their own: workers on different cores never share one. */
const HEAD_BYTES = 64;

/** The face of `openErrorTables`: the mapping and its descriptor belong to the caller. */
export type OpenErrorTables = Pick<ErrorTables, 'add' | 'read'>;

/** Bytes of the shared object for this many lines: 132 kB a line, of which only pages that are used exist. */
export function errorTableBytes(lines: number): number {
  return headerBytes(lines) + lines * ERROR_CELLS * ERROR_CELL_BYTES;
}

/** `buffer`: zeroed for the creator. Throws `bad-segment` when it belongs to another build or another number of lines. */
export function openErrorTables(
  buffer: ArrayBuffer | SharedArrayBuffer,
  lines: number,
  creator: boolean,
  nowMs: () => number,
): OpenErrorTables {
  checkHeader(buffer, lines, creator);
  const tables = Array.from({ length: lines }, (_, line) => openLine(buffer, headerBytes(lines), line));
  const nowUs = () => BigInt(Math.round(nowMs() * 1000));
  return {
    add(line, error) {
      const table = tables[line];
      if (!table) return;
      // Counted before anything can go wrong: an error that finds no place below is one of the lost.
      Atomics.add(table.added, 0, 1n);
      try {
        addTo(table.cells, cleanRecord(error), nowUs);
      } catch {
        // Bad input must not take the process down that reports it.
      }
    },
    read(line) {
      const table = tables[line];
      if (!table) throw new RangeError(`line ${line} has no error table; there are ${lines}`);
      const found = table.cells.map(readCell);
      const cells = found.filter((cell) => cell !== null && cell !== undefined);
      const counted = cells.reduce((sum, cell) => sum + cell.count, 0);
      // SYNC: read after the cells; each error is added here before it is counted in a cell, so this is never too small.
      const added = Number(Atomics.load(table.added, 0));
      return { cells, lost: added - counted, torn: found.filter((cell) => cell === undefined).length };
    },
  };
}

interface Line {
  /** [errors added so far]. */
  readonly added: BigInt64Array;
  readonly cells: readonly CellWords[];
}

function openLine(buffer: ArrayBuffer | SharedArrayBuffer, from: number, line: number): Line {
  const first = from + line * ERROR_CELLS * ERROR_CELL_BYTES;
  return {
    added: new BigInt64Array(buffer, HEAD_BYTES * (line + 1), 1),
    cells: Array.from({ length: ERROR_CELLS }, (_, i) => cellWords(buffer, first + i * ERROR_CELL_BYTES)),
  };
}

function addTo(cells: readonly CellWords[], error: ErrorRecord, nowUs: () => bigint): void {
  const key = cellKey(fingerprintOf(error), error.entry);
  const same = cells.find((cell) => cellState(cell) === 'whole' && cellHolds(cell, key));
  if (same) bumpCell(same, error.envId, nowUs());
  else rewriteCell(placeFor(cells), key, error, nowUs);
}

/** A free cell, else one that a dead writer left unfinished, else the one whose error was not seen for the longest time. */
function placeFor(cells: readonly CellWords[]): CellWords {
  const free = cells.find((cell) => cellState(cell) === 'free') ?? cells.find((cell) => cellState(cell) === 'cut');
  return free ?? cells.reduce((oldest, cell) => (lastUsOf(cell) < lastUsOf(oldest) ? cell : oldest));
}

const OPERATIONS = new Set<string>(['construct', 'reset', 'step', 'close', 'idle']);

/** What an env threw can be anything; a record holds strings and an id. */
function cleanRecord(error: ErrorRecord): ErrorRecord {
  return {
    envId: Number.isInteger(error.envId) && error.envId >= 0 && error.envId < 2 ** 31 ? error.envId : -1,
    entry: String(error.entry),
    operation: OPERATIONS.has(error.operation) ? error.operation : 'idle',
    message: String(error.message),
    stack: String(error.stack),
  };
}

function headerBytes(lines: number): number {
  return Math.ceil((HEAD_BYTES * (lines + 1)) / PAGE_BYTES) * PAGE_BYTES;
}

function checkHeader(buffer: ArrayBuffer | SharedArrayBuffer, lines: number, creator: boolean): void {
  const bytes = errorTableBytes(lines);
  if (buffer.byteLength < bytes) refuse(`it holds ${buffer.byteLength} bytes, ${lines} lines need ${bytes}`);
  const words = new Int32Array(buffer, 0, 4);
  const needed = [MAGIC, VERSION, lines];
  if (creator) {
    words.set(needed, 1);
    // SYNC: release, pairs with the load below: who reads 1 finds the words above.
    Atomics.store(words, 0, 1);
    return;
  }
  const ready = Atomics.load(words, 0);
  const found = [...words.subarray(1, 4)];
  if (ready !== 1 || found.some((value, i) => value !== needed[i])) {
    refuse(`ready, magic, version, lines are ${[ready, ...found].join(', ')}, expected ${[1, ...needed].join(', ')}`);
  }
}

function refuse(what: string): never {
  throw new EnvladderError('bad-segment', `error tables: ${what}. The processes of one run must come from the same build and plan`);
}
