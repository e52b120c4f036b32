// The 32 bytes in a segment's header that let an attaching process prove that it means the same memory.
import { createHash } from 'node:crypto';
import type { SegmentSpec } from './interface.js';
import { canonicalLayout } from './layout.js';

/** SHA-256 over the canonical layout text. */
export function layoutHash(spec: SegmentSpec): Uint8Array {
  return createHash('sha256').update(canonicalLayout(spec)).digest();
}
