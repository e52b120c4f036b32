// What the reader remembers of each slot, privately: its cursor, its open episode, whether an answer is due. Rows of all blocks lie in one
// array in the order of adding.
#pragma once
#include <memory>
#include <vector>

#include "bell.h"
#include "block.h"

namespace envladder {

struct ReaderBlock {
  std::shared_ptr<Block> block;
  BellLine* bell = nullptr;
  std::vector<uint32_t> planeOf;
  uint32_t firstRow = 0;
  bool dropped = false;
  bool touched = false;
};

struct ReaderRow {
  uint64_t taken;   // seq of the newest frame taken
  uint64_t word;    // its P word, which the answer repeats
  uint64_t actionNs;  // when the previous frame was answered, 0 if never
  double episodeReturn, endedReturn;
  uint32_t episodeLength, endedLength;
  uint16_t block;
  bool pending;     // taken, not answered
  bool retired;
};

// Rows for a block's slots, with cursors where the last reader of this memory left them.
inline void appendRows(const Block& block, uint16_t index, std::vector<ReaderRow>& rows) {
  // Exactly what is needed: growth by doubling would keep up to a whole row per slot in reserve.
  rows.reserve(rows.size() + block.slots);
  for (uint32_t slot = 0; slot < block.slots; slot++) {
    const ReaderLine& line = block.readers[slot];
    // SYNC: acquire pairs with the release CAS of P in Writer::store: the flags that isQuarantined looks at are those of this frame.
    const uint64_t word = block.writers[slot].published.load(std::memory_order_acquire);
    uint64_t taken = line.taken.load(std::memory_order_relaxed);
    const uint64_t answered = seqOf(line.answered.load(std::memory_order_relaxed));
    const bool retired = taken == seqOf(word) && isQuarantined(block, slot, word);
    // A reader before this one died between taking and answering: take that frame again, or its slot would wait for ever.
    if (taken > answered && !retired) taken = answered;
    ReaderRow row{};
    row.taken = taken;
    row.block = index;
    row.retired = retired;
    rows.push_back(row);
  }
}

// Takes what is left of a block and stops looking at it. Returns how many frames had never been taken.
inline uint64_t retireRows(ReaderBlock& entry, std::vector<ReaderRow>& rows) {
  uint64_t left = 0;
  entry.dropped = true;
  for (uint32_t slot = 0; slot < entry.block->slots; slot++) {
    ReaderRow& row = rows[entry.firstRow + slot];
    // SYNC: acquire pairs with the release CAS of P in Writer::store; only the count is used, cells of a dropped block are not read.
    const uint64_t seq = seqOf(entry.block->writers[slot].published.load(std::memory_order_acquire));
    if (seq > row.taken) left += seq - row.taken;
    row.taken = seq;
    row.pending = false;
    row.retired = true;
    entry.block->readers[slot].taken.store(seq, std::memory_order_relaxed);
  }
  return left;
}

// Adds a frame to its row's open episode. True when the episode ended with it; return and length stand in endedReturn, endedLength.
// Resets carry no transition, and a lost trajectory is forgotten without being reported.
inline bool countFrame(ReaderRow& row, uint32_t flags, double reward) {
  const bool transition = (flags & (kFirst | kAbandoned | kQuarantined)) == 0;
  if (transition) {
    row.episodeReturn += reward;
    row.episodeLength++;
    if ((flags & kDone) == 0) return false;
    row.endedReturn = row.episodeReturn;
    row.endedLength = row.episodeLength;
  }
  row.episodeReturn = 0;
  row.episodeLength = 0;
  return transition;
}

}  // namespace envladder
