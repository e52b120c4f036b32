// One worker's memfd as seen by this process: header, lazily mapped blocks, the worker's bell. The creator allocates and fences; the
// worker writes; the learner reads. Blocks that were never allocated are not touched: reading a hole would take a page.
import { closeSync } from 'node:fs';
import type { NativeAddon, NativeBell, NativeBlock, NativeMapping } from '../../native/index.js';
import { DTYPES, type Dtype, viewOf } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import { AUTORESET_MODES } from '../contract/frame-flags.js';
import type { BlockScan, BlockSpec, Segment, SegmentSpec } from './interface.js';
import { type BlockLayout, SEGMENT_HEADER, type SegmentLayout } from './layout.js';
import type { MappedBlock } from './mapped-block.js';
import { nativeBlockWriter } from './native-block-writer.js';
import { translated } from './native-errors.js';
import { readSlotWords } from './read-slot-words.js';
import { checkEpoch, checkSameSegment, newerOwner } from './segment-checks.js';
import { type ExpectedHeader, findDamage, headerWords } from './segment-header.js';

/** What the reader needs of a segment beyond the public face. */
export interface NativeSegment extends Segment {
  readonly workBell: NativeBell;
  nativeBlock(block: number): NativeBlock;
  raiseEpoch(epoch: number): void;
}

export interface SegmentParts {
  readonly native: NativeAddon;
  readonly spec: SegmentSpec;
  readonly layout: SegmentLayout;
  readonly fd: number;
  readonly header: NativeMapping;
  readonly headerBuffer: ArrayBuffer;
  readonly expected: ExpectedHeader;
  /** The creator closes the fd; an inherited one belongs to the process. */
  readonly ownsFd: boolean;
  /** Bytes that may still be filled; asked before pages are taken. */
  readonly availableBytes: () => number;
  /** Rings the reader of this process's control page. */
  readonly ringFrames: () => void;
}

const PEEK_TRIES = 8;
const NOTHING: BlockScan = { published: 0, taken: 0, live: 0, quarantined: 0 };

/** Number that the addon uses for a dtype. */
export function dtypeNumber(dtype: Dtype): number {
  return DTYPES.indexOf(dtype);
}

export function nativeSegment(parts: SegmentParts): NativeSegment {
  const { native, spec, layout, fd } = parts;
  const words = headerWords(parts.headerBuffer);
  const bell = new native.Bell(parts.header, SEGMENT_HEADER.workBell);
  const mapped = new Map<number, MappedBlock>();
  const keyIndex = (block: BlockSpec, key: string) => block.keys.findIndex((k) => k.key === key);
  let closed = false;

  const indexOf = (block: number): number => {
    const index = spec.blocks.findIndex((b) => b.id === block);
    if (index < 0) throw new Error(`segment of worker ${spec.worker} has no block ${block}`);
    if (closed) throw new Error(`segment of worker ${spec.worker} is closed`);
    return index;
  };
  const mapBlock = (block: number): MappedBlock => {
    const index = indexOf(block);
    const known = mapped.get(block);
    if (known) return known;
    if (!words.isAllocated(index)) {
      throw new EnvladderError(
        'bad-segment',
        `worker ${spec.worker}, block ${block}: no pages yet; the supervisor allocates a block before anyone uses it`,
      );
    }
    const made = mapOne(parts, spec.blocks[index] as BlockSpec, layout.blocks[index] as BlockLayout);
    mapped.set(block, made);
    return made;
  };
  // What this process has mapped has pages, whatever became of the header.
  const hasPages = (block: number): boolean => {
    const index = indexOf(block);
    return mapped.has(block) || words.isAllocated(index);
  };

  return {
    spec,
    fd,
    bytes: layout.bytes,
    workBell: bell,
    nativeBlock: (block) => mapBlock(block).native,
    isAllocated: hasPages,
    raiseEpoch: words.raiseEpoch,
    blockBytes: (block) => (layout.blocks[indexOf(block)] as BlockLayout).bytes,
    allocate(block, threads) {
      const index = indexOf(block);
      allocateBlock(parts, block, layout.blocks[index] as BlockLayout, threads);
      words.markAllocated(index);
    },
    fence(block, epoch) {
      checkEpoch(epoch);
      words.raiseEpoch(epoch);
      if (hasPages(block) && !mapBlock(block).native.fence(epoch)) throw newerOwner(spec.worker, block, epoch);
    },
    writer: (block, epoch) => nativeBlockWriter(native, mapBlock(block), spec.worker, epoch, parts.ringFrames),
    takeOver(old, epoch) {
      checkEpoch(epoch);
      checkSameSegment(old.spec, spec);
      const from = old as NativeSegment;
      from.raiseEpoch(epoch);
      words.raiseEpoch(epoch);
      for (const { id } of spec.blocks) {
        if (!from.isAllocated(id)) continue;
        if (!mapBlock(id).native.takeOver(from.nativeBlock(id), epoch)) throw newerOwner(spec.worker, id, epoch);
      }
    },
    damaged: () => findDamage(parts.headerBuffer, parts.expected, [...mapped.keys()].map(indexOf)),
    slotWords(block, into, from) {
      if (hasPages(block)) readSlotWords(mapBlock(block), into, from);
    },
    scan: (block) => (hasPages(block) ? mapBlock(block).native.scan() : NOTHING),
    peek(block, slot, key) {
      const found = mapBlock(block);
      const plane = keyIndex(found.spec, key);
      const keySpec = found.spec.keys[plane];
      const layoutPlane = found.layout.planes[plane];
      if (!keySpec || !layoutPlane) throw new Error(`block ${block} has no key '${key}'`);
      const into = new ArrayBuffer(layoutPlane.cellBytes);
      const seq = found.native.peek(slot, plane, new Uint8Array(into), PEEK_TRIES);
      return seq === 0 ? undefined : { seq, data: viewOf(keySpec.dtype, into, 0, keySpec.elements) };
    },
    waitWork: (timeoutMs) => bell.wait(timeoutMs),
    ringWork: () => bell.ring(),
    close() {
      if (closed) return;
      closed = true;
      mapped.clear();
      if (parts.ownsFd) closeSync(fd);
    },
  };
}

function mapOne(parts: SegmentParts, spec: BlockSpec, layout: BlockLayout): MappedBlock {
  const { native, fd } = parts;
  return translated(`worker ${parts.spec.worker}, block ${spec.id}`, () => {
    const control = new native.Mapping(fd, layout.offsetBytes, layout.controlBytes);
    const mappings = layout.planes.map((plane) => ({
      mapping: new native.Mapping(fd, plane.offsetBytes, plane.bytes),
      finals: plane.finalOffsetBytes === 0 ? null : new native.Mapping(fd, plane.finalOffsetBytes, plane.bytes),
      dtype: dtypeNumber(plane.dtype),
      elements: plane.elements,
    }));
    const { slots, cells } = spec;
    const { writerOffset, readerOffset, recordOffset, recordStride, actionOffset, actionStride, actionBytes } = layout;
    const autoreset = AUTORESET_MODES.indexOf(spec.autoreset);
    const shape = {
      slots,
      cells,
      autoreset,
      writerOffset,
      readerOffset,
      recordOffset,
      recordStride,
      actionOffset,
      actionStride,
      actionBytes,
    };
    const block = new native.Block(shape, control, mappings);
    return { spec, layout, native: block, control: control.takeBuffer(), planes: mappings.map((m) => m.mapping.takeBuffer()) };
  });
}

function allocateBlock(parts: SegmentParts, block: number, layout: BlockLayout, threads: number): void {
  const where = `worker ${parts.spec.worker}, block ${block}`;
  const remedy = 'Use fewer environments, fewer cells per slot, or a machine (or memory limit) with more room';
  const available = parts.availableBytes();
  if (layout.bytes > available) {
    throw new EnvladderError(
      'out-of-memory',
      `${where}: ${layout.bytes} bytes of shared memory are needed, ${available} are available. ${remedy}`,
      {
        detail: { neededBytes: layout.bytes, availableBytes: available },
      },
    );
  }
  const errno = parts.native.allocateRange(parts.fd, layout.offsetBytes, layout.bytes, threads);
  if (errno === 0) return;
  throw new EnvladderError(
    'out-of-memory',
    `${where}: the kernel gave no pages for ${layout.bytes} bytes of shared memory (errno ${errno}); ${parts.availableBytes()} bytes are available. ${remedy}`,
    { detail: { neededBytes: layout.bytes, errno } },
  );
}
