// Where every byte of a segment lies, computed from its spec. Pure: supervisor, worker and learner each compute it and compare hashes.
// native/src/shared.h states the same offsets for the words; a test compares both.
//
//   segment   [ header 4 KiB.. | block 0 | block 1 | ... ]                       every part starts on a page
//   block     [ writer lines 64 B x slots | reader lines 64 B x slots | records, if cells > 2 | actions, if > 32 B ]  one mapping
//             [ plane of key 0: slots x cells x elements ] [ its final plane, if same-step ] [ plane of key 1 ] ...   a mapping each
import { DTYPE_BYTES, type Dtype } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import type { BlockSpec, KeySpec, SegmentSpec } from './interface.js';

export const LAYOUT_VERSION = 2;
export const PAGE_BYTES = 4096;
export const LINE_BYTES = 64;
export const RECORD_BYTES = 16;
/** Records of up to this many cells lie inside the writer line. */
export const INLINE_CELLS = 2;
/** Actions up to this size lie inside the reader line. */
export const INLINE_ACTION_BYTES = 32;
/** A mapping must fit an ArrayBuffer of Node 20 (4 GiB) with room to index it by i32. */
export const PLANE_LIMIT_BYTES = 2 ** 31;
export const CELLS_MIN = 2;
export const CELLS_MAX = 256;
export const RUN_ID_BYTES = 64;
/** Epoch has 24 bits in the slot word. */
export const EPOCH_MAX = 2 ** 24 - 1;

export const WRITER_LINE = { published: 0, publishNs: 8, records: 16 } as const;
export const READER_LINE = { answered: 0, actionNs: 8, taken: 16, command: 24, action: 32 } as const;
export const SEGMENT_HEADER = {
  magic: 0,
  layoutVersion: 8,
  blocks: 12,
  layoutHash: 16,
  worker: 48,
  headerBytes: 52,
  bytes: 56,
  runId: 64,
  workBell: 128,
  epoch: 192,
  ready: 196,
  blockState: 256,
} as const;
export const SEGMENT_MAGIC = 0x31474553564e45n;
export const CONTROL_MAGIC = 0x314c5443564e45n;
export const CONTROL_HEADER = { magic: 0, layoutVersion: 8, lines: 12, ready: 16, frameBell: 64, progress: 128 } as const;
export const PROGRESS_LINE_BYTES = 64;
export const PROGRESS_LINE = {
  envId: 0,
  op: 4,
  loops: 8,
  framesLow: 12,
  epoch: 16,
  pid: 20,
  framesHigh: 24,
  span: 28,
  nativeMs: 32,
  loopMs: 40,
  opMs: 48,
} as const;

export interface PlaneLayout {
  readonly key: string;
  readonly dtype: Dtype;
  readonly elements: number;
  readonly cellBytes: number;
  /** From the start of the segment; page-aligned. */
  readonly offsetBytes: number;
  readonly bytes: number;
  /** Same dimensions; 0 when the block keeps no final observations. */
  readonly finalOffsetBytes: number;
}

export interface BlockLayout {
  /** From the start of the segment. The control part comes first; offsets below are relative to it. */
  readonly offsetBytes: number;
  /** Whole block, a multiple of the page size. */
  readonly bytes: number;
  readonly controlBytes: number;
  readonly writerOffset: number;
  readonly readerOffset: number;
  /** Record of (slot, cell): recordOffset + slot * recordStride + cell * 16. */
  readonly recordOffset: number;
  readonly recordStride: number;
  /** Action of slot: actionOffset + slot * actionStride. */
  readonly actionOffset: number;
  readonly actionStride: number;
  readonly actionBytes: number;
  readonly planes: readonly PlaneLayout[];
}

export interface SegmentLayout {
  readonly headerBytes: number;
  readonly bytes: number;
  readonly blocks: readonly BlockLayout[];
}

/** `bytes` rounded up to a multiple of `unit`. */
export function roundUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

/** The layout of a whole segment. Throws `bad-plan` for what cannot be laid out (cells, sizes, planes above 2 GiB). */
export function layoutSegment(spec: SegmentSpec): SegmentLayout {
  if (spec.runId.length === 0 || spec.runId.length > RUN_ID_BYTES) {
    throw new EnvladderError(
      'bad-plan',
      `run id '${spec.runId}' has ${spec.runId.length} characters; 1 to ${RUN_ID_BYTES} fit the segment header`,
    );
  }
  const headerBytes = roundUp(SEGMENT_HEADER.blockState + 4 * spec.blocks.length, PAGE_BYTES);
  let bytes = headerBytes;
  const blocks = spec.blocks.map((block) => {
    const layout = layoutBlock(block, bytes, spec.worker);
    bytes += layout.bytes;
    return layout;
  });
  return { headerBytes, bytes, blocks };
}

/** The layout of one block that starts at `offsetBytes` of its segment. */
export function layoutBlock(block: BlockSpec, offsetBytes: number, worker: number): BlockLayout {
  const where = `worker ${worker}, block ${block.id} (kind '${block.kind}')`;
  if (!Number.isInteger(block.slots) || block.slots < 1) {
    throw new EnvladderError('bad-plan', `${where}: ${block.slots} slots; a block needs at least one`);
  }
  if (!Number.isInteger(block.cells) || block.cells < CELLS_MIN || block.cells > CELLS_MAX) {
    throw new EnvladderError('bad-plan', `${where}: ${block.cells} cells per slot; ${CELLS_MIN} to ${CELLS_MAX} are possible`);
  }
  const readerOffset = block.slots * LINE_BYTES;
  let end = readerOffset + block.slots * LINE_BYTES;
  const inlineRecords = block.cells <= INLINE_CELLS;
  const recordOffset = inlineRecords ? WRITER_LINE.records : end;
  const recordStride = inlineRecords ? LINE_BYTES : roundUp(block.cells * RECORD_BYTES, LINE_BYTES);
  if (!inlineRecords) end += block.slots * recordStride;
  const actionBytes = block.action.length * 4;
  const inlineAction = actionBytes <= INLINE_ACTION_BYTES;
  const actionOffset = inlineAction ? readerOffset + READER_LINE.action : end;
  const actionStride = inlineAction ? LINE_BYTES : roundUp(actionBytes, LINE_BYTES);
  if (!inlineAction) end += block.slots * actionStride;
  const controlBytes = checkedPlane(roundUp(end, PAGE_BYTES), where, 'control words');
  let at = offsetBytes + controlBytes;
  const planes = block.keys.map((key) => {
    const plane = layoutPlane(key, block, at, where);
    at += roundUp(plane.bytes, PAGE_BYTES) * (plane.finalOffsetBytes === 0 ? 1 : 2);
    return plane;
  });
  return {
    offsetBytes,
    bytes: at - offsetBytes,
    controlBytes,
    writerOffset: 0,
    readerOffset,
    recordOffset,
    recordStride,
    actionOffset,
    actionStride,
    actionBytes,
    planes,
  };
}

function layoutPlane(key: KeySpec, block: BlockSpec, offsetBytes: number, where: string): PlaneLayout {
  const cellBytes = key.elements * DTYPE_BYTES[key.dtype];
  const bytes = checkedPlane(block.slots * block.cells * cellBytes, where, `plane '${key.key}'`);
  const finalOffsetBytes = block.autoreset === 'same-step' ? offsetBytes + roundUp(bytes, PAGE_BYTES) : 0;
  return { key: key.key, dtype: key.dtype, elements: key.elements, cellBytes, offsetBytes, bytes, finalOffsetBytes };
}

function checkedPlane(bytes: number, where: string, what: string): number {
  if (bytes <= PLANE_LIMIT_BYTES) return bytes;
  throw new EnvladderError(
    'bad-plan',
    `${where}: ${what} needs ${bytes} bytes, one mapping holds at most ${PLANE_LIMIT_BYTES}. Use more workers (fewer slots each) or fewer cells per slot`,
    { detail: { bytes, limitBytes: PLANE_LIMIT_BYTES } },
  );
}

/** Text that is equal exactly when two processes agree on every byte of a segment; its hash stands in the header. */
export function canonicalLayout(spec: SegmentSpec): string {
  const bound = (value: number | readonly number[]) => (typeof value === 'number' ? String(value) : `[${value.join(',')}]`);
  const layout = layoutSegment(spec);
  const blocks = spec.blocks.map((block, i) => {
    const keys = block.keys.map((k) => [k.key, k.dtype, k.elements, `[${k.shape.join(',')}]`, bound(k.low), bound(k.high)].join(' '));
    const head = [
      block.id,
      JSON.stringify(block.kind),
      block.firstEnvId,
      block.slots,
      block.cells,
      block.action.dtype,
      block.action.length,
      block.autoreset,
    ];
    return `${head.join(' ')}\n${keys.join('\n')}\n${JSON.stringify(layout.blocks[i])}`;
  });
  return [`envladder layout ${LAYOUT_VERSION}`, `worker ${spec.worker} header ${layout.headerBytes} bytes ${layout.bytes}`, ...blocks].join(
    '\n',
  );
}
