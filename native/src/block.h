// Where the words and planes of one block lie in this process: pointers computed once from the numbers of harness/memory/layout.ts.
// Everybody who touches a block (writer, reader, scan, fence, peek) addresses it through this struct and nowhere else.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "memory-object.h"
#include "shared.h"

namespace envladder {

enum class Dtype : uint8_t { u8 = 0, i32 = 1, f32 = 2, f64 = 3 };
enum class Autoreset : uint8_t { nextStep = 0, sameStep = 1, disabled = 2 };

inline uint64_t dtypeBytes(Dtype dtype) { return dtype == Dtype::u8 ? 1 : dtype == Dtype::f64 ? 8 : 4; }

struct Plane {
  uint8_t* base = nullptr;
  uint8_t* finals = nullptr;  // null unless autoreset is same-step
  Dtype dtype = Dtype::u8;
  uint64_t elements = 0;
  uint64_t cellBytes = 0;
};

struct Block {
  uint32_t slots = 0;
  uint32_t cells = 0;
  Autoreset autoreset = Autoreset::nextStep;
  uint32_t actionBytes = 0;
  uint64_t recordStride = 0;
  uint64_t actionStride = 0;
  WriterLine* writers = nullptr;
  ReaderLine* readers = nullptr;
  uint8_t* records = nullptr;
  uint8_t* actions = nullptr;
  std::vector<Plane> planes;
  std::vector<std::shared_ptr<Mapping>> keep;

  uint32_t cellOf(uint64_t seq) const { return cells == 2 ? uint32_t(seq & 1) : uint32_t(seq % cells); }
  Record& record(uint64_t slot, uint32_t cell) const {
    return *reinterpret_cast<Record*>(records + slot * recordStride + cell * sizeof(Record));
  }
  uint8_t* action(uint64_t slot) const { return actions + slot * actionStride; }
  uint8_t* cellAt(const Plane& plane, uint64_t slot, uint32_t cell) const {
    return plane.base + (slot * cells + cell) * plane.cellBytes;
  }
  uint8_t* finalAt(const Plane& plane, uint64_t slot, uint32_t cell) const {
    return plane.finals + (slot * cells + cell) * plane.cellBytes;
  }
};

// Whether the newest published frame of a slot retired it. `word` is the slot's P.
inline bool isQuarantined(const Block& block, uint32_t slot, uint64_t word) {
  const uint64_t seq = seqOf(word);
  return seq != 0 && (block.record(slot, block.cellOf(seq)).flags.load(std::memory_order_relaxed) & kQuarantined) != 0;
}

struct Scan {
  uint64_t published = 0, taken = 0, live = 0, quarantined = 0;
};

// Counts over the control words; needs no lease and disturbs nobody.
inline Scan scanBlock(const Block& block) {
  Scan scan;
  for (uint32_t slot = 0; slot < block.slots; slot++) {
    // SYNC: acquire pairs with the release CAS of P in Writer::store: the flags that isQuarantined looks at are those of this frame.
    const uint64_t word = block.writers[slot].published.load(std::memory_order_acquire);
    scan.published += seqOf(word);
    scan.taken += block.readers[slot].taken.load(std::memory_order_relaxed);
    if (isQuarantined(block, slot, word)) scan.quarantined++;
    else if (seqOf(word) != 0) scan.live++;
  }
  return scan;
}

// Hands every slot to `epoch`: from here on a CAS by any older epoch fails. Returns false if a slot already belongs to a newer epoch.
inline bool fenceBlock(const Block& block, uint64_t epoch) {
  bool ours = true;
  for (uint32_t slot = 0; slot < block.slots; slot++) {
    Word64& published = block.writers[slot].published;
    // SYNC: acquire pairs with the release CAS of P in Writer::store; the CAS below passes on what it brought.
    uint64_t seen = published.load(std::memory_order_acquire);
    while (epochOf(seen) < epoch) {
      // SYNC: acq_rel keeps the release chain of the dead worker's last frame intact for whoever acquires the fenced word.
      if (published.compare_exchange_weak(seen, slotWord(epoch, seqOf(seen)), std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
        break;
      }
    }
    if (epochOf(seen) > epoch) ours = false;
  }
  return ours;
}

}  // namespace envladder
