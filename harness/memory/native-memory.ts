// Shared memory between processes: memfd segments, futex bells, the C++ addon. The implementation that runs use; twin-memory.ts stands
// in for it inside one process.
import type { NativeAddon, NativeMapping } from '../../native/index.js';
import { EnvladderError } from '../contract/errors.js';
import { availableBytes } from './available-memory.js';
import type { Control } from './control.js';
import type { Memory, Segment } from './interface.js';
import { layoutSegment, type SegmentLayout } from './layout.js';
import { attachNativeControl, createNativeControl } from './native-control.js';
import { attachNativeErrors, createNativeErrors } from './native-error-tables.js';
import { requireNative, translated } from './native-errors.js';
import { nativeReader } from './native-reader.js';
import { nativeSegment } from './native-segment.js';
import { sizeOfObject } from './object-size.js';
import { checkHeader, type ExpectedHeader, headerOf, writeHeader } from './segment-header.js';

export interface NativeMemoryOptions {
  /** Bytes that may still be filled. Default: what the machine and the cgroups above us have left. Tests inject a small number. */
  readonly availableBytes?: () => number;
  /** Makes the shared object and returns its fd. Default: a sealed memfd. Tests inject a file on a small tmpfs. */
  readonly createObject?: (name: string, bytes: number) => number;
}

/** Shared memory of this machine. Throws `native-missing` when the addon is not built. */
export function createNativeMemory(options: NativeMemoryOptions = {}): Memory {
  const native = requireNative();
  const available = options.availableBytes ?? availableBytes;
  const createObject = options.createObject ?? ((name, bytes) => native.createObject(name, bytes));
  let control: Control | undefined;
  const ringFrames = () => control?.ringFrames();

  const open = (expected: ExpectedHeader, fd: number, header: NativeMapping, headerBuffer: ArrayBuffer, ownsFd: boolean): Segment => {
    const { spec, layout } = expected;
    return nativeSegment({ native, spec, layout, expected, fd, header, headerBuffer, ownsFd, availableBytes: available, ringFrames });
  };

  return {
    name: 'native',
    createSegment(spec) {
      const layout = layoutSegment(spec);
      const where = `segment of worker ${spec.worker}`;
      const fd = translated(where, () => createObject(`envladder:${spec.runId}:w${spec.worker}`, layout.bytes));
      backHeader(native, where, fd, layout);
      const header = mapHeader(native, where, fd, layout);
      const buffer = header.takeBuffer();
      const expected = headerOf(spec, layout);
      writeHeader(buffer, expected);
      return open(expected, fd, header, buffer, true);
    },
    attachSegment(spec, fd) {
      const layout = layoutSegment(spec);
      const where = `segment of worker ${spec.worker}`;
      const size = sizeOfObject(fd, where);
      if (size !== layout.bytes) {
        throw new EnvladderError(
          'bad-segment',
          `${where}: fd ${fd} holds ${size} bytes, the plan needs ${layout.bytes}. The processes of one run must come from the same build and plan`,
        );
      }
      const header = mapHeader(native, where, fd, layout);
      const buffer = header.takeBuffer();
      const expected = headerOf(spec, layout);
      checkHeader(buffer, expected);
      return open(expected, fd, header, buffer, false);
    },
    createControl: (lines) => createNativeControl(native, lines),
    attachControl: (lines, fd) => attachNativeControl(native, lines, fd),
    createErrors: (lines) => createNativeErrors(native, lines),
    attachErrors: (lines, fd) => attachNativeErrors(native, lines, fd),
    reader: (readerOptions) => nativeReader(native, readerOptions),
    bindControl(bound) {
      control = bound;
    },
  };
}

/** Pages first: storing into a header without one would end in SIGBUS instead of an error. */
function backHeader(native: NativeAddon, where: string, fd: number, layout: SegmentLayout): void {
  const errno = native.allocateRange(fd, 0, layout.headerBytes, 1);
  if (errno === 0) return;
  throw new EnvladderError(
    'out-of-memory',
    `${where}: the kernel gave no pages for its header of ${layout.headerBytes} bytes (errno ${errno})`,
  );
}

function mapHeader(native: NativeAddon, where: string, fd: number, layout: SegmentLayout): NativeMapping {
  return translated(where, () => new native.Mapping(fd, 0, layout.headerBytes));
}
