// The first page of a segment: who wrote it, what it holds, which blocks have pages. Written once by the supervisor (ready last), then
// only block states and the epoch change; read and checked by every process that attaches.
import { EnvladderError } from '../contract/errors.js';
import type { SegmentSpec } from './interface.js';
import { EPOCH_MAX, LAYOUT_VERSION, RUN_ID_BYTES, SEGMENT_HEADER, SEGMENT_MAGIC, type SegmentLayout } from './layout.js';
import { layoutHash } from './layout-hash.js';

const HASH_BYTES = 32;

export interface SegmentHeader {
  isAllocated(blockIndex: number): boolean;
  markAllocated(blockIndex: number): void;
  raiseEpoch(epoch: number): void;
}

/** What stands in the header of a segment of this spec. */
export interface ExpectedHeader {
  readonly spec: SegmentSpec;
  readonly layout: SegmentLayout;
  /** Computed once: a look at the header must be cheap. */
  readonly hash: Uint8Array;
  readonly runId: Uint8Array;
}

export function headerOf(spec: SegmentSpec, layout: SegmentLayout): ExpectedHeader {
  return { spec, layout, hash: layoutHash(spec), runId: runIdBytes(spec.runId) };
}

/** Fills a fresh header; `ready` is stored last (Atomics: after everything above it). */
export function writeHeader(buffer: ArrayBuffer, { spec, layout, hash, runId }: ExpectedHeader): void {
  const view = new DataView(buffer);
  view.setBigUint64(SEGMENT_HEADER.magic, SEGMENT_MAGIC, true);
  view.setUint32(SEGMENT_HEADER.layoutVersion, LAYOUT_VERSION, true);
  view.setUint32(SEGMENT_HEADER.blocks, spec.blocks.length, true);
  new Uint8Array(buffer, SEGMENT_HEADER.layoutHash, HASH_BYTES).set(hash);
  view.setUint32(SEGMENT_HEADER.worker, spec.worker, true);
  view.setUint32(SEGMENT_HEADER.headerBytes, layout.headerBytes, true);
  view.setBigUint64(SEGMENT_HEADER.bytes, BigInt(layout.bytes), true);
  new Uint8Array(buffer, SEGMENT_HEADER.runId, RUN_ID_BYTES).set(runId);
  // SYNC: Atomics are seq_cst, so also a release: pairs with the load of `ready` in findMismatch. Who reads 1 reads everything above.
  Atomics.store(new Int32Array(buffer), SEGMENT_HEADER.ready / 4, 1);
}

/** The first word that is not what it should be, or null. */
function findMismatch(buffer: ArrayBuffer, expected: ExpectedHeader): { what: string; found: unknown; needed: unknown } | null {
  const { spec, layout } = expected;
  const view = new DataView(buffer);
  // SYNC: acquire, pairs with the store of `ready` in writeHeader; every other word is read after it.
  const ready = Atomics.load(new Int32Array(buffer), SEGMENT_HEADER.ready / 4);
  const words: [string, unknown, unknown][] = [
    ['the ready word', ready, 1],
    ['the magic number', view.getBigUint64(SEGMENT_HEADER.magic, true), SEGMENT_MAGIC],
    ['the layout version', view.getUint32(SEGMENT_HEADER.layoutVersion, true), LAYOUT_VERSION],
  ];
  for (const [what, found, needed] of words) if (found !== needed) return { what, found, needed };
  const hash = new Uint8Array(buffer, SEGMENT_HEADER.layoutHash, HASH_BYTES);
  if (!equalBytes(hash, expected.hash)) return { what: 'the layout hash', found: shortHex(hash), needed: shortHex(expected.hash) };
  const runId = new Uint8Array(buffer, SEGMENT_HEADER.runId, RUN_ID_BYTES);
  if (!equalBytes(runId, expected.runId)) {
    return { what: 'the run id', found: Buffer.from(runId).toString('utf8').replace(/\0+$/, ''), needed: spec.runId };
  }
  const sizes: [string, unknown, unknown][] = [
    ['the number of blocks', view.getUint32(SEGMENT_HEADER.blocks, true), spec.blocks.length],
    ['the worker', view.getUint32(SEGMENT_HEADER.worker, true), spec.worker],
    ['the header size', view.getUint32(SEGMENT_HEADER.headerBytes, true), layout.headerBytes],
    ['the segment size', view.getBigUint64(SEGMENT_HEADER.bytes, true), BigInt(layout.bytes)],
  ];
  for (const [what, found, needed] of sizes) if (found !== needed) return { what, found, needed };
  return null;
}

/** Throws `bad-segment` naming the first thing that differs: ready, magic, version, hash, run id, sizes. */
export function checkHeader(buffer: ArrayBuffer, expected: ExpectedHeader): void {
  const mismatch = findMismatch(buffer, expected);
  if (mismatch === null) return;
  const { what, found, needed } = mismatch;
  throw new EnvladderError(
    'bad-segment',
    `segment of worker ${expected.spec.worker}: ${what} is ${found}, expected ${needed}. The processes of one run must come from the same build and plan`,
    { detail: { what, found: String(found), needed: String(needed) } },
  );
}

/**
 * What is wrong with a header that was right when this process attached, as part of a sentence, or null. `allocated`: indices of blocks that
 * are known to have pages. Cheap: about 150 bytes are compared.
 */
export function findDamage(buffer: ArrayBuffer, expected: ExpectedHeader, allocated: readonly number[]): string | null {
  const mismatch = findMismatch(buffer, expected);
  if (mismatch !== null) return `${mismatch.what} is ${mismatch.found}, expected ${mismatch.needed}`;
  const words = new Int32Array(buffer);
  const epoch = Atomics.load(words, SEGMENT_HEADER.epoch / 4);
  if (epoch < 0 || epoch > EPOCH_MAX) return `the epoch is ${epoch}, outside 0..${EPOCH_MAX}`;
  for (let i = 0; i < expected.spec.blocks.length; i++) {
    const state = Atomics.load(words, SEGMENT_HEADER.blockState / 4 + i);
    if (state !== 0 && state !== 1) return `the state of block ${expected.spec.blocks[i]?.id} is ${state}, expected 0 or 1`;
    if (state === 0 && allocated.includes(i)) return `the state of block ${expected.spec.blocks[i]?.id} is 0, but its pages were taken`;
  }
  return null;
}

function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function shortHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').slice(0, 16);
}

/** The words that change while a run lives. */
export function headerWords(buffer: ArrayBuffer): SegmentHeader {
  const words = new Int32Array(buffer);
  const state = SEGMENT_HEADER.blockState / 4;
  const epochWord = SEGMENT_HEADER.epoch / 4;
  return {
    // SYNC: acquire, pairs with the store in markAllocated: who reads 1 finds the block's pages there.
    isAllocated: (i) => Atomics.load(words, state + i) === 1,
    markAllocated: (i) => {
      // SYNC: release, pairs with the load in isAllocated; stored after the pages were taken and pre-faulted.
      Atomics.store(words, state + i, 1);
    },
    raiseEpoch: (epoch) => {
      if (epoch > Atomics.load(words, epochWord)) Atomics.store(words, epochWord, epoch);
    },
  };
}

function runIdBytes(runId: string): Uint8Array {
  const bytes = new Uint8Array(RUN_ID_BYTES);
  const text = new TextEncoder().encode(runId);
  if (text.length > RUN_ID_BYTES) {
    throw new EnvladderError('bad-plan', `run id '${runId}' takes ${text.length} bytes; ${RUN_ID_BYTES} fit the segment header`);
  }
  bytes.set(text);
  return bytes;
}
