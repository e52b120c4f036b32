// C++ and TypeScript state the same memory twice; this is where they are compared.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CONTROL_HEADER,
  LAYOUT_VERSION,
  LINE_BYTES,
  PROGRESS_LINE,
  PROGRESS_LINE_BYTES,
  READER_LINE,
  RECORD_BYTES,
  SEGMENT_HEADER,
  WRITER_LINE,
} from '../../harness/memory/layout.js';
import { loadNative } from '../../native/index.js';

test('every shared offset is the same in C++ and in TypeScript', () => {
  // Goal: no word is written in one place and read in another; nothing is stated on one side only.
  const prefixed = (name: string, offsets: Record<string, number>) =>
    Object.fromEntries(Object.entries(offsets).map(([key, value]) => [`${name}.${key}`, value]));
  assert.deepEqual(loadNative().sharedOffsets(), {
    layoutVersion: LAYOUT_VERSION,
    seqBits: 40,
    recordBytes: RECORD_BYTES,
    'writerLine.bytes': LINE_BYTES,
    ...prefixed('writerLine', WRITER_LINE),
    'readerLine.bytes': LINE_BYTES,
    ...prefixed('readerLine', READER_LINE),
    ...prefixed('segment', SEGMENT_HEADER),
    ...prefixed('control', CONTROL_HEADER),
    'progressLine.bytes': PROGRESS_LINE_BYTES,
    ...prefixed('progressLine', PROGRESS_LINE),
  });
});
