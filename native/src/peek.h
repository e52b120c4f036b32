// Reading without a lease (dashboard, recorder): copy, then prove that the copied cell cannot have been rewritten meanwhile.
// Bounded tries; the reader never delays a writer.
#pragma once
#include "block.h"

namespace envladder {

// Word-wise relaxed loads: the copy may race with a writer by design, so it must not be a plain memcpy in the language's eyes.
inline void copyRelaxed(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  uint64_t at = 0;
  if ((reinterpret_cast<uintptr_t>(from) & 7) == 0) {
    for (; at + 8 <= bytes; at += 8) {
      const uint64_t word = reinterpret_cast<const Word64*>(from + at)->load(std::memory_order_relaxed);
      std::memcpy(to + at, &word, 8);
    }
  }
  for (; at < bytes; at++) to[at] = reinterpret_cast<const std::atomic<uint8_t>*>(from + at)->load(std::memory_order_relaxed);
}

// Copies the newest frame of one plane. `Validate` is false only in the mutant that the torn-read harness must catch. Returns its P word; 0 when nothing is published or every try was torn (`torn` counts them).
template <bool Validate = true>
uint64_t peekCell(const Block& block, uint32_t slot, const Plane& plane, uint8_t* to, int tries, uint64_t& torn) {
  for (int i = 0; i < tries; i++) {
    // SYNC: acquire pairs with the release CAS of P in Writer::store: the cell of that frame is complete.
    const uint64_t before = block.writers[slot].published.load(std::memory_order_acquire);
    const uint64_t seq = seqOf(before);
    if (seq == 0) return 0;
    copyRelaxed(to, block.cellAt(plane, slot, block.cellOf(seq)), plane.cellBytes);
    // SYNC: orders the copy before the second look; pairs with the release fence in Writer::claim, which stands between the CAS that
    // moved P to seq + D - 1 and the first store into the reused cell.
    std::atomic_thread_fence(std::memory_order_acquire);
    const uint64_t after = block.writers[slot].published.load(std::memory_order_relaxed);
    // While P is at seq + k the worker may be writing cell (seq + k + 1) % D: ours is safe for k <= D - 2.
    if (!Validate || seqOf(after) - seq <= block.cells - 2) return before;
    torn++;
  }
  return 0;
}

}  // namespace envladder
