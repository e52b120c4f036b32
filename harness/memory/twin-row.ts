// What the twin's reader remembers of each slot, and how its answer becomes visible to the worker (native/src/reader-rows.h, pace.h).
import type { Segment } from './interface.js';
import type { TwinBlock } from './twin-block.js';

export interface Row {
  block: TwinBlock;
  segment: Segment;
  readonly slot: number;
  taken: number;
  actionNs: number;
  /** When that answer was meant to be, at a set rate. */
  dueNs: number;
  /** Answered, but its time has not come. */
  held: boolean;
  episodeReturn: number;
  episodeLength: number;
  pending: boolean;
  retired: boolean;
  /** To be released as soon as its last frame is taken. */
  releaseDue: boolean;
  /** Released, and no frame taken since: actions still on their way are passed over. */
  released: boolean;
  dropped: boolean;
}

/** The row's part of a period: multiples of the golden ratio fill it evenly (native/src/pace.h). */
export const goldenShare = (row: number): number => (row * 0.618_033_988_749_894_9) % 1;

/** The worker sees the answer from here on. */
export function letGo(row: Row, stampNs: number): void {
  row.block.actionNs[row.slot] = row.actionNs = stampNs;
  row.block.answered[row.slot] = row.taken;
  row.held = false;
}
