// A fresh segment in place of one whose worker may still be alive: slot words, record and newest frame of every slot go across, and
// nothing the old worker does later can reach them. Called by the supervisor; nobody may be writing to the new block yet.
#pragma once
#include "block.h"

namespace envladder {

inline void copyNewest(const Block& to, const Block& from, uint32_t slot, uint64_t seq) {
  const uint32_t cell = from.cellOf(seq);
  const Record& record = from.record(slot, cell);
  const uint32_t flags = record.flags.load(std::memory_order_relaxed);
  to.record(slot, cell).reward = record.reward;
  to.record(slot, cell).flags.store(flags, std::memory_order_relaxed);
  to.writers[slot].publishNs.store(from.writers[slot].publishNs.load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (size_t i = 0; i < from.planes.size(); i++) {
    const Plane &source = from.planes[i], &target = to.planes[i];
    std::memcpy(to.cellAt(target, slot, cell), from.cellAt(source, slot, cell), source.cellBytes);
    if (source.finals && (flags & kFinal) != 0) {
      std::memcpy(to.finalAt(target, slot, cell), from.finalAt(source, slot, cell), source.cellBytes);
    }
  }
}

// `to` has the shape of `from`. Fences `from` first: its P words stand still from there on, and the old worker only ever writes the cell
// after the newest one. Returns false, with `to` untouched, if a slot belongs to a newer epoch already.
// The reader may go on answering frames of `from`; Reader::replace carries over what it did after this copy.
inline bool takeOverBlock(const Block& to, const Block& from, uint64_t epoch) {
  if (!fenceBlock(from, epoch)) return false;
  for (uint32_t slot = 0; slot < from.slots; slot++) {
    const ReaderLine& old = from.readers[slot];
    ReaderLine& line = to.readers[slot];
    // Actions stay behind: every slot of the new life begins with a reset.
    const uint64_t answered = old.answered.load(std::memory_order_relaxed);
    line.taken.store(old.taken.load(std::memory_order_relaxed), std::memory_order_relaxed);
    // SYNC: acquire pairs with the release CAS of P in Writer::store: record and cell of that frame are complete.
    const uint64_t seq = seqOf(from.writers[slot].published.load(std::memory_order_acquire));
    if (seq != 0) copyNewest(to, from, slot, seq);
    // SYNC: release pairs with the acquire loads of A in Writer::claim.
    line.answered.store(answered, std::memory_order_release);
    // SYNC: release pairs with the acquire loads of P in Reader::collectFrom and the next life's Writer.
    to.writers[slot].published.store(slotWord(epoch, seq), std::memory_order_release);
  }
  return true;
}

}  // namespace envladder
