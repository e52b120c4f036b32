// Control words of a mapped block, slot by slot, for dashboards: no lease, no copy of cells, nobody is disturbed. The two halves of a
// 64-bit word are read apart; the upper one changes once in 2^32 frames or at a restart, and is read again to catch that.
import { QUARANTINED } from '../contract/frame-flags.js';
import type { SlotWords } from './interface.js';
import { LINE_BYTES, READER_LINE, RECORD_BYTES, WRITER_LINE } from './layout.js';
import type { MappedBlock } from './mapped-block.js';

const WORD_BYTES = 4;
/** Of the upper half: epoch above, 8 bits of seq below. */
const UPPER_SEQ_BITS = 8;
const UPPER_SEQ_MASK = (1 << UPPER_SEQ_BITS) - 1;
const FLAGS_IN_RECORD = 8;
const MAX_TRIES = 4;

/** Seq and epoch of the slot word at `at` (index of its lower half). */
function readWord(words: Int32Array, at: number): { seq: number; epoch: number } {
  let upper = Atomics.load(words, at + 1);
  let lower = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // SYNC: sequentially consistent loads; they pair with the worker's release CAS of P and the reader's release store of A.
    lower = Atomics.load(words, at);
    const again = Atomics.load(words, at + 1);
    if (again === upper) break;
    upper = again;
  }
  return { seq: (upper & UPPER_SEQ_MASK) * 2 ** 32 + (lower >>> 0), epoch: upper >>> UPPER_SEQ_BITS };
}

/** Writes the words of every slot to `into`, the first one at index `from`. */
export function readSlotWords({ spec, layout, control }: MappedBlock, into: SlotWords, from: number): void {
  const words = new Int32Array(control, 0, Math.floor(control.byteLength / WORD_BYTES));
  for (let slot = 0; slot < spec.slots; slot++) {
    const published = readWord(words, (layout.writerOffset + slot * LINE_BYTES + WRITER_LINE.published) / WORD_BYTES);
    const answered = readWord(words, (layout.readerOffset + slot * LINE_BYTES + READER_LINE.answered) / WORD_BYTES);
    const record = layout.recordOffset + slot * layout.recordStride + (published.seq % spec.cells) * RECORD_BYTES;
    const flags = published.seq === 0 ? 0 : Atomics.load(words, (record + FLAGS_IN_RECORD) / WORD_BYTES);
    into.seq[from + slot] = published.seq;
    into.epoch[from + slot] = published.epoch;
    into.owed[from + slot] = answered.seq === published.seq ? 1 : 0;
    into.retired[from + slot] = (flags & QUARANTINED) === 0 ? 0 : 1;
  }
}
