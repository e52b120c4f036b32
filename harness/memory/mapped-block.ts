// One block as it lies mapped in this process: what the segment makes and the block's writer works on.
import type { NativeBlock } from '../../native/index.js';
import type { BlockSpec } from './interface.js';
import type { BlockLayout } from './layout.js';

/** A block mapped into this process. Each buffer exists once. */
export interface MappedBlock {
  readonly spec: BlockSpec;
  readonly layout: BlockLayout;
  readonly native: NativeBlock;
  readonly control: ArrayBuffer;
  /** In the order of `spec.keys`. */
  readonly planes: readonly ArrayBuffer[];
}
