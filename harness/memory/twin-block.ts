// State of one block of the in-memory twin: the same words and planes as in shared memory, as plain arrays of one process. Written by
// the twin's writer and reader; bounded by the block's spec.
import { DTYPE_BYTES, type TypedArray, viewOf } from '../contract/dtype.js';
import { QUARANTINED } from '../contract/frame-flags.js';
import type { BlockScan, BlockSpec, SlotWords } from './interface.js';

export interface TwinBlock {
  readonly spec: BlockSpec;
  /** P: who published last, and which frame. */
  readonly epoch: Uint32Array;
  readonly seq: Float64Array;
  readonly publishNs: Float64Array;
  /** Per cell: slot * cells + seq % cells. */
  readonly reward: Float64Array;
  readonly flags: Uint8Array;
  /** A: the frame that was answered last. */
  readonly answered: Float64Array;
  readonly taken: Float64Array;
  readonly actionNs: Float64Array;
  readonly command: Uint8Array;
  readonly action: Int32Array | Float32Array;
  /** In the order of spec.keys. */
  readonly planes: readonly ArrayBuffer[];
  readonly finals: readonly ArrayBuffer[];
}

export const COMMAND = { step: 0, reset: 1 } as const;

export function twinBlock(spec: BlockSpec): TwinBlock {
  const { slots, cells } = spec;
  const plane = (elements: number, bytes: number) => new ArrayBuffer(slots * cells * elements * bytes);
  const planes = () => spec.keys.map((key) => plane(key.elements, DTYPE_BYTES[key.dtype]));
  const actions = slots * spec.action.length;
  return {
    spec,
    epoch: new Uint32Array(slots),
    seq: new Float64Array(slots),
    publishNs: new Float64Array(slots),
    reward: new Float64Array(slots * cells),
    flags: new Uint8Array(slots * cells),
    answered: new Float64Array(slots),
    taken: new Float64Array(slots),
    actionNs: new Float64Array(slots),
    command: new Uint8Array(slots),
    action: spec.action.dtype === 'i32' ? new Int32Array(actions) : new Float32Array(actions),
    planes: planes(),
    finals: spec.autoreset === 'same-step' ? planes() : [],
  };
}

/** Number of the cell that holds frame `seq` of `slot`. */
export function cellIndex(spec: BlockSpec, slot: number, seq: number): number {
  return slot * spec.cells + (seq % spec.cells);
}

/** One key's values in one cell of `buffers`. */
export function cellOf(spec: BlockSpec, buffers: readonly ArrayBuffer[], key: number, cell: number): TypedArray {
  const { dtype, elements } = spec.keys[key] as BlockSpec['keys'][number];
  return viewOf(dtype, buffers[key] as ArrayBuffer, cell * elements * DTYPE_BYTES[dtype], elements);
}

export function isRetired(block: TwinBlock, slot: number): boolean {
  const seq = block.seq[slot] as number;
  return seq > 0 && ((block.flags[cellIndex(block.spec, slot, seq)] as number) & QUARANTINED) !== 0;
}

/** Words and planes of `to` become those of `from`, under `epoch`; the twin copies all cells where shared memory copies the newest. */
export function takeOverTwin(to: TwinBlock, from: TwinBlock, epoch: number): void {
  from.epoch.fill(epoch);
  for (const name of ['epoch', 'seq', 'publishNs', 'reward', 'flags', 'answered', 'taken'] as const) {
    (to[name] as Float64Array).set(from[name] as Float64Array);
  }
  for (const name of ['planes', 'finals'] as const) {
    for (const [i, plane] of from[name].entries()) new Uint8Array(to[name][i] as ArrayBuffer).set(new Uint8Array(plane));
  }
}

export function scanTwin(block: TwinBlock): BlockScan {
  const scan = { published: 0, taken: 0, live: 0, quarantined: 0 };
  for (let slot = 0; slot < block.spec.slots; slot++) {
    const seq = block.seq[slot] as number;
    scan.published += seq;
    scan.taken += block.taken[slot] as number;
    if (isRetired(block, slot)) scan.quarantined++;
    else if (seq > 0) scan.live++;
  }
  return scan;
}

/** The words of every slot, the first one at index `from` of `into`. */
export function slotWordsOf(block: TwinBlock, into: SlotWords, from: number): void {
  for (let slot = 0; slot < block.spec.slots; slot++) {
    into.seq[from + slot] = block.seq[slot] as number;
    into.epoch[from + slot] = block.epoch[slot] as number;
    into.owed[from + slot] = block.answered[slot] === block.seq[slot] ? 1 : 0;
    into.retired[from + slot] = isRetired(block, slot) ? 1 : 0;
  }
}
