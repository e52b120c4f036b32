// What the worker remembers of each slot of a block besides its table: how far its env is, and what the segment thinks of its slot.
// Written by env-table.ts and env-recovery.ts only; two bytes per env.
import type { SlotTable } from '../envs/slot-table.js';
import type { BlockWriter } from '../memory/interface.js';

/** building: waits for, or is in, its first constructor. mending: failed, will be built anew. released: was out, will be built anew. */
export const PHASE = { building: 0, live: 1, mending: 2, out: 3, released: 4 } as const;
/** unbuilt: never activated in this life. active: claimed in turn, or parked. retired: quarantined. */
export const SEAT = { unbuilt: 0, active: 1, retired: 2 } as const;

export interface MendBlock {
  readonly block: number;
  readonly entry: string;
  readonly writer: BlockWriter;
  /** False: the kind leaves things behind that a second env of the same id would meet. */
  readonly rebuild: boolean;
  readonly phase: Uint8Array;
  readonly seat: Uint8Array;
  /** Undefined while the kind's `create` is at work; nothing of the block is in work then. */
  table: SlotTable | undefined;
  /** First constructors are at work. */
  building: boolean;
}

export function mendBlock(block: number, entry: string, writer: BlockWriter, rebuild: boolean): MendBlock {
  const { slots } = writer.spec;
  return {
    block,
    entry,
    writer,
    rebuild,
    phase: new Uint8Array(slots),
    seat: new Uint8Array(slots),
    table: undefined,
    building: false,
  };
}

/** Whose env it is; undefined for an env of no block taken up so far. */
export function ownerOf<Block extends MendBlock>(blocks: readonly Block[], envId: number): { block: Block; index: number } | undefined {
  for (const block of blocks) {
    const index = envId - block.writer.spec.firstEnvId;
    if (index >= 0 && index < block.writer.spec.slots) return { block, index };
  }
  return undefined;
}
