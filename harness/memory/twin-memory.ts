// The same memory inside one process: plain arrays, no addon, bells that never sleep. For unit tests and as the second implementation
// that the conformance suite holds against shared memory.
import { EnvladderError } from '../contract/errors.js';
import type { Control, ErrorTables } from './control.js';
import { errorTableBytes, openErrorTables } from './error-tables.js';
import type { Memory, Segment, SegmentSpec } from './interface.js';
import { canonicalLayout, layoutSegment } from './layout.js';
import { checkEpoch, checkSameSegment, newerOwner } from './segment-checks.js';
import { cellIndex, cellOf, scanTwin, slotWordsOf, type TwinBlock, takeOverTwin, twinBlock } from './twin-block.js';
import { twinBlockWriter } from './twin-block-writer.js';
import { twinBell, twinControl } from './twin-control.js';
import { type TwinSegment, twinReader } from './twin-reader.js';

export interface TwinMemoryOptions {
  /** Clock in ns. Default: the monotonic clock. */
  readonly nowNs?: () => number;
  /** Bytes that may still be filled. Default: unlimited. */
  readonly availableBytes?: () => number;
}

/** Memory of one process. `attachSegment` finds what `createSegment` of the same object made. */
export function createTwinMemory(options: TwinMemoryOptions = {}): Memory {
  const nowNs = options.nowNs ?? (() => Number(process.hrtime.bigint()));
  const available = options.availableBytes ?? (() => Number.POSITIVE_INFINITY);
  const segments = new Map<number, Segment>();
  const controls = new Map<number, Control>();
  const errors = new Map<number, ErrorTables>();
  let bound: Control | undefined;
  return {
    name: 'twin',
    createSegment(spec) {
      const segment = twinSegment(spec, nowNs, available, () => bound?.ringFrames());
      segments.set(spec.worker, segment);
      return segment;
    },
    attachSegment(spec) {
      const found = segments.get(spec.worker);
      if (!found || found.spec.runId !== spec.runId || canonicalLayout(found.spec) !== canonicalLayout(spec)) {
        const what = !found
          ? 'does not exist'
          : found.spec.runId !== spec.runId
            ? `has the run id ${found.spec.runId}, expected ${spec.runId}`
            : 'has another layout hash';
        throw new EnvladderError(
          'bad-segment',
          `segment of worker ${spec.worker} ${what}. The processes of one run must come from the same build and plan`,
        );
      }
      return found;
    },
    createControl(lines) {
      const control = twinControl(lines, () => nowNs() / 1e6);
      controls.set(lines, control);
      return control;
    },
    attachControl(lines) {
      const found = controls.get(lines);
      if (!found)
        throw new EnvladderError(
          'bad-segment',
          `no control page of ${lines} lines. The processes of one run must come from the same build and plan`,
        );
      return found;
    },
    createErrors(lines) {
      const buffer = new ArrayBuffer(errorTableBytes(lines));
      const tables = { fd: -1, ...openErrorTables(buffer, lines, true, () => nowNs() / 1e6), close() {} };
      errors.set(lines, tables);
      return tables;
    },
    attachErrors(lines) {
      const found = errors.get(lines);
      if (!found) {
        throw new EnvladderError(
          'bad-segment',
          `no error tables of ${lines} lines. The processes of one run must come from the same build and plan`,
        );
      }
      return found;
    },
    reader: (readerOptions) => twinReader(readerOptions, nowNs),
    bindControl(control) {
      bound = control;
    },
  };
}

function twinSegment(spec: SegmentSpec, nowNs: () => number, available: () => number, ringFrames: () => void): TwinSegment {
  const layout = layoutSegment(spec);
  const bell = twinBell();
  const blocks = new Map<number, TwinBlock>();
  const indexOf = (block: number) => {
    const index = spec.blocks.findIndex((b) => b.id === block);
    if (index < 0) throw new Error(`segment of worker ${spec.worker} has no block ${block}`);
    return index;
  };
  const allocated = (block: number): TwinBlock => {
    indexOf(block);
    const found = blocks.get(block);
    if (found) return found;
    throw new EnvladderError(
      'bad-segment',
      `worker ${spec.worker}, block ${block}: no pages yet; the supervisor allocates a block before anyone uses it`,
    );
  };
  const blockBytes = (block: number) => layout.blocks[indexOf(block)]?.bytes ?? 0;
  return {
    spec,
    fd: -1,
    bytes: layout.bytes,
    twinBlock: allocated,
    isAllocated: (block) => blocks.has(block),
    blockBytes,
    allocate(block) {
      const bytes = blockBytes(block);
      if (bytes > available()) {
        throw new EnvladderError(
          'out-of-memory',
          `worker ${spec.worker}, block ${block}: ${bytes} bytes of memory are needed, ${available()} are available`,
        );
      }
      if (!blocks.has(block)) blocks.set(block, twinBlock(spec.blocks[indexOf(block)] as SegmentSpec['blocks'][number]));
    },
    fence(block, epoch) {
      checkEpoch(epoch);
      indexOf(block);
      const epochs = blocks.get(block)?.epoch;
      if (epochs?.some((e) => e > epoch)) throw newerOwner(spec.worker, block, epoch);
      epochs?.fill(epoch);
    },
    writer: (block, epoch) => twinBlockWriter(allocated(block), spec.worker, epoch, nowNs, ringFrames),
    takeOver(old, epoch) {
      checkEpoch(epoch);
      checkSameSegment(old.spec, spec);
      const from = old as TwinSegment;
      for (const { id } of spec.blocks) {
        if (!from.isAllocated(id)) continue;
        const to = allocated(id);
        if (from.twinBlock(id).epoch.some((e) => e > epoch)) throw newerOwner(spec.worker, id, epoch);
        takeOverTwin(to, from.twinBlock(id), epoch);
      }
    },
    damaged: () => null,
    scan(block) {
      indexOf(block);
      const found = blocks.get(block);
      return found ? scanTwin(found) : { published: 0, taken: 0, live: 0, quarantined: 0 };
    },
    slotWords(block, into, from) {
      indexOf(block);
      const found = blocks.get(block);
      if (found) slotWordsOf(found, into, from);
    },
    peek(block, slot, key) {
      const found = allocated(block);
      const index = found.spec.keys.findIndex((k) => k.key === key);
      if (index < 0) throw new Error(`block ${block} has no key '${key}'`);
      const seq = found.seq[slot] as number;
      if (seq === 0) return undefined;
      return { seq, data: cellOf(found.spec, found.planes, index, cellIndex(found.spec, slot, seq)).slice() };
    },
    waitWork: () => bell.wait(),
    ringWork: () => bell.ring(),
    close() {},
  };
}
