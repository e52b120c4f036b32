// The first page of a segment: who wrote it, what it holds, which blocks have pages. Written once by the supervisor (ready last), then
// only block states and the epoch change; read and checked by every process that attaches.
import { EnvladderError } from '../contract/errors.js';
import type { SegmentSpec } from './interface.js';
import { LAYOUT_VERSION, RUN_ID_BYTES, SEGMENT_HEADER, SEGMENT_MAGIC, type SegmentLayout } from './layout.js';
import { layoutHash } from './layout-hash.js';

export interface SegmentHeader {
  isAllocated(blockIndex: number): boolean;
  markAllocated(blockIndex: number): void;
  raiseEpoch(epoch: number): void;
}

/** Fills a fresh header; `ready` is stored last (Atomics: after everything above it). */
export function writeHeader(buffer: ArrayBuffer, spec: SegmentSpec, layout: SegmentLayout): void {
  const view = new DataView(buffer);
  view.setBigUint64(SEGMENT_HEADER.magic, SEGMENT_MAGIC, true);
  view.setUint32(SEGMENT_HEADER.layoutVersion, LAYOUT_VERSION, true);
  view.setUint32(SEGMENT_HEADER.blocks, spec.blocks.length, true);
  new Uint8Array(buffer, SEGMENT_HEADER.layoutHash, 32).set(layoutHash(spec));
  view.setUint32(SEGMENT_HEADER.worker, spec.worker, true);
  view.setUint32(SEGMENT_HEADER.headerBytes, layout.headerBytes, true);
  view.setBigUint64(SEGMENT_HEADER.bytes, BigInt(layout.bytes), true);
  new Uint8Array(buffer, SEGMENT_HEADER.runId, RUN_ID_BYTES).set(runIdBytes(spec.runId));
  // SYNC: Atomics are seq_cst, so also a release: pairs with the load of `ready` in checkHeader. Who reads 1 reads everything above.
  Atomics.store(new Int32Array(buffer), SEGMENT_HEADER.ready / 4, 1);
}

/** Throws `bad-segment` naming the first thing that differs: ready, magic, version, worker, hash, run id. */
export function checkHeader(buffer: ArrayBuffer, spec: SegmentSpec): void {
  const view = new DataView(buffer);
  const refuse = (what: string, found: unknown, needed: unknown): never => {
    throw new EnvladderError(
      'bad-segment',
      `segment of worker ${spec.worker}: ${what} is ${found}, expected ${needed}. The processes of one run must come from the same build and plan`,
      { detail: { what, found: String(found), needed: String(needed) } },
    );
  };
  // SYNC: acquire, pairs with the store of `ready` in writeHeader; every other word is read after it.
  if (Atomics.load(new Int32Array(buffer), SEGMENT_HEADER.ready / 4) !== 1) refuse('the ready word', 0, 1);
  const magic = view.getBigUint64(SEGMENT_HEADER.magic, true);
  if (magic !== SEGMENT_MAGIC) refuse('the magic number', magic, SEGMENT_MAGIC);
  const version = view.getUint32(SEGMENT_HEADER.layoutVersion, true);
  if (version !== LAYOUT_VERSION) refuse('the layout version', version, LAYOUT_VERSION);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const hash = hex(new Uint8Array(buffer, SEGMENT_HEADER.layoutHash, 32));
  const ours = hex(layoutHash(spec));
  if (hash !== ours) refuse('the layout hash', hash.slice(0, 16), ours.slice(0, 16));
  const runId = hex(new Uint8Array(buffer, SEGMENT_HEADER.runId, RUN_ID_BYTES));
  if (runId !== hex(runIdBytes(spec.runId))) {
    refuse('the run id', Buffer.from(runId, 'hex').toString('utf8').replace(/\0+$/, ''), spec.runId);
  }
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
