// One kind of error in shared memory: who it is (written once, under a sequence word and a checksum) and how often it came (atomic words).
// Written by the one process that owns the line, read by any; a writer killed at any instruction leaves a cell that is whole or is skipped.
//
//  0 version i32 (odd: being written)   4 text bytes u32
//  8 fingerprint 8 B   16 entry hash u32   20 checksum u32 (of 4..19, first time and text)
// 32 count i64   40 first time i64   48 last time i64 (CLOCK_MONOTONIC in microseconds)
// 64 first env ids i32 x 8 (-1: none)   128 one bit per env id modulo 8,192   1152 exemplar, JSON in UTF-8
import type { ErrorRecord } from '../contract/error-record.js';
import type { ErrorCell } from './control.js';

/** One page, so that cells never used cost no memory: a JavaScript stack of ten frames is about 1 kB, the env bits are another. */
export const ERROR_CELL_BYTES = 4096;
/** Env ids kept by name. */
export const CELL_ENV_IDS = 8;
/** Env ids counted exactly; ids that far apart share a bit, so above it `envs` is a lower bound. The account's run has 7,000. */
export const CELL_ENV_BITS = 8192;
/** Tries of a reader before it passes a cell over: a rewrite takes some microseconds, so does a try. */
const READ_TRIES = 8;

const TEXT_OFFSET = 1152;
const TEXT_BYTES = ERROR_CELL_BYTES - TEXT_OFFSET;
const [VERSION, LENGTH, ENTRY, CHECKSUM, ENV_IDS, ENV_BITS] = [0, 1, 4, 5, 16, 32];
const [COUNT, FIRST, LAST] = [4, 5, 6];

export interface CellWords {
  readonly i32: Int32Array;
  readonly i64: BigInt64Array;
  readonly bytes: Uint8Array;
}

export interface CellKey {
  /** 8 bytes. */
  readonly fingerprint: Uint8Array;
  readonly entryHash: number;
}

export function cellWords(buffer: ArrayBuffer | SharedArrayBuffer, offset: number): CellWords {
  return {
    i32: new Int32Array(buffer, offset, ERROR_CELL_BYTES / 4),
    i64: new BigInt64Array(buffer, offset, ERROR_CELL_BYTES / 8),
    bytes: new Uint8Array(buffer, offset, ERROR_CELL_BYTES),
  };
}

export function cellKey(fingerprint: string, entry: string): CellKey {
  return { fingerprint: Buffer.from(fingerprint, 'hex'), entryHash: fnv1a(Buffer.from(entry), FNV_SEED) | 0 };
}

export type CellState = 'free' | 'cut' | 'whole';

/** `cut`: its writer died while it wrote. Only for the line's writer: for others a cell may be in work. */
export function cellState(cell: CellWords): CellState {
  const version = Atomics.load(cell.i32, VERSION);
  return version === 0 ? 'free' : version & 1 ? 'cut' : 'whole';
}

export function cellHolds(cell: CellWords, key: CellKey): boolean {
  if (cell.i32[ENTRY] !== key.entryHash) return false;
  return key.fingerprint.every((byte, i) => cell.bytes[8 + i] === byte);
}

export function lastUsOf(cell: CellWords): bigint {
  return Atomics.load(cell.i64, LAST);
}

/** One more of the same. Each word is whole at any moment: nothing is lost with a writer that dies in here. */
export function bumpCell(cell: CellWords, envId: number, nowUs: bigint): void {
  Atomics.store(cell.i64, LAST, nowUs);
  markEnv(cell, envId);
  Atomics.add(cell.i64, COUNT, 1n);
}

/** Gives the cell to a new kind of error; `now` is asked half-way: tests look or die there. False: another life took it at the same time. */
export function rewriteCell(cell: CellWords, key: CellKey, error: ErrorRecord, now: () => bigint): boolean {
  const before = Atomics.load(cell.i32, VERSION);
  const odd = (before + (before & 1 ? 2 : 1)) | 0;
  // SYNC: readers that saw `before` find another version after their copy and try again. A writer of an older life that comes back finds
  // its own odd version gone and cannot close the cell; what it wrote in between fails the checksum.
  if (Atomics.compareExchange(cell.i32, VERSION, before, odd) !== before) return false;
  const text = exemplarBytes(error);
  Atomics.store(cell.i64, COUNT, 0n);
  cell.i32.fill(-1, ENV_IDS, ENV_IDS + CELL_ENV_IDS);
  cell.i32.fill(0, ENV_BITS, ENV_BITS + CELL_ENV_BITS / 32);
  cell.bytes.set(key.fingerprint, 8);
  cell.i32[ENTRY] = key.entryHash;
  const firstUs = now();
  cell.i32[LENGTH] = text.length;
  cell.bytes.set(text, TEXT_OFFSET);
  cell.i64[FIRST] = firstUs;
  cell.i32[CHECKSUM] = checksumOf(cell.bytes, text.length);
  bumpCell(cell, error.envId, firstUs);
  // SYNC: seq_cst, so a release: who reads the even version reads everything above.
  return Atomics.compareExchange(cell.i32, VERSION, odd, (odd + 1) | 0) === odd;
}

/** A whole copy, `null` for a free cell, undefined when every try met a writer or the cell was cut by a death. */
export function readCell(cell: CellWords): ErrorCell | null | undefined {
  for (let attempt = 0; attempt < READ_TRIES; attempt++) {
    // SYNC: acquire, pairs with the closing exchange of rewriteCell.
    const version = Atomics.load(cell.i32, VERSION);
    if (version === 0) return null;
    if (version & 1) continue;
    const count = Number(Atomics.load(cell.i64, COUNT));
    const lastMs = Number(Atomics.load(cell.i64, LAST)) / 1000;
    const copy = cell.bytes.slice();
    if (Atomics.load(cell.i32, VERSION) !== version) continue;
    const whole = parseCopy(copy, count, lastMs);
    if (whole) return whole;
  }
  return undefined;
}

function parseCopy(copy: Uint8Array, count: number, lastMs: number): ErrorCell | undefined {
  const { i32, i64 } = cellWords(copy.buffer as ArrayBuffer, 0);
  const length = i32[LENGTH] as number;
  if (length < 0 || length > TEXT_BYTES || checksumOf(copy, length) !== i32[CHECKSUM]) return undefined;
  let envs = 0;
  for (let word = ENV_BITS; word < ENV_BITS + CELL_ENV_BITS / 32; word++) {
    for (let bits = i32[word] as number; bits !== 0; bits &= bits - 1) envs++;
  }
  return {
    fingerprint: Buffer.from(copy.buffer, 8, 8).toString('hex'),
    count,
    firstMs: Number(i64[FIRST]) / 1000,
    lastMs,
    exemplar: JSON.parse(Buffer.from(copy.buffer, TEXT_OFFSET, length).toString()) as ErrorRecord,
    envIds: [...i32.subarray(ENV_IDS, ENV_IDS + CELL_ENV_IDS)].filter((id) => id >= 0),
    envs,
  };
}

function markEnv(cell: CellWords, envId: number): void {
  if (envId < 0) return;
  const bit = envId % CELL_ENV_BITS;
  Atomics.or(cell.i32, ENV_BITS + (bit >> 5), 1 << (bit & 31));
  for (let i = ENV_IDS; i < ENV_IDS + CELL_ENV_IDS; i++) {
    const held = cell.i32[i] as number;
    if (held === envId) return;
    if (held < 0) {
      Atomics.store(cell.i32, i, envId);
      return;
    }
  }
}

/** JSON of the error that fits a cell: the message keeps its head, the stack gives way. */
function exemplarBytes(error: ErrorRecord): Uint8Array {
  const head = { envId: error.envId, entry: error.entry.slice(0, 64), operation: error.operation, message: error.message.slice(0, 384) };
  for (let stack = error.stack.slice(0, TEXT_BYTES); ; ) {
    const bytes = Buffer.from(JSON.stringify({ ...head, stack }));
    if (bytes.length <= TEXT_BYTES) return bytes;
    stack = stack.slice(0, Math.min(stack.length - 1, Math.floor((stack.length * TEXT_BYTES) / bytes.length)));
  }
}

const FNV_SEED = 0x811c9dc5;

function checksumOf(bytes: Uint8Array, length: number): number {
  let hash = fnv1a(bytes.subarray(4, 20), FNV_SEED);
  hash = fnv1a(bytes.subarray(FIRST * 8, FIRST * 8 + 8), hash);
  return fnv1a(bytes.subarray(TEXT_OFFSET, TEXT_OFFSET + length), hash) | 0;
}

function fnv1a(bytes: Uint8Array, seed: number): number {
  let hash = seed;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}
