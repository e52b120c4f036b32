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
  uint64_t dueNs;     // when that answer was meant to be, at a set rate; 0 if never
  double episodeReturn, endedReturn;
  uint32_t episodeLength, endedLength;
  uint16_t block;
  bool pending;     // taken, not answered
  bool retired;
  bool releaseDue;  // to be released as soon as its last frame is taken
  bool held;        // answered, but its time has not come: the worker does not see it yet
  bool released;    // released, and no frame taken since: actions still on their way are passed over
};

// Rows for a block's slots, with cursors where the last reader of this memory left them.
inline void appendRows(const Block& block, uint16_t index, std::vector<ReaderRow>& rows) {
  // Exactly what is needed: growth by doubling would keep up to a whole row per slot in reserve.
  rows.reserve(rows.size() + block.slots);
  for (uint32_t slot = 0; slot < block.slots; slot++) {
    ReaderLine& line = block.readers[slot];
    // SYNC: acquire pairs with the release CAS of P in Writer::store: the flags that isQuarantined looks at are those of this frame.
    const uint64_t word = block.writers[slot].published.load(std::memory_order_acquire);
    uint64_t taken = line.taken.load(std::memory_order_relaxed);
    const uint64_t answered = seqOf(line.answered.load(std::memory_order_relaxed));
    // An answered last frame was released: the next one is a reset.
    const bool retired = taken == seqOf(word) && taken != answered && isQuarantined(block, slot, word);
    // A reader before this one died between taking and answering: take that frame again, or its slot would wait for ever. The cursor goes
    // back with it, so that the frame counts once.
    if (taken > answered && !retired) {
      taken = answered;
      line.taken.store(taken, std::memory_order_relaxed);
    }
    ReaderRow row{};
    row.taken = taken;
    row.block = index;
    row.retired = retired;
    rows.push_back(row);
  }
}

// Answers the last frame of a retired slot with a reset, so that its writer may use it again; the row is read again. False when nothing
// was answered: the row is not retired (or its last frame is not taken yet: it is released then).
inline bool releaseRow(ReaderBlock& entry, ReaderRow& row, uint32_t slot) {
  const Block& block = *entry.block;
  // SYNC: acquire pairs with the release CAS of P in Writer::store: the flags that isQuarantined looks at are those of this frame.
  const uint64_t word = block.writers[slot].published.load(std::memory_order_acquire);
  if (!row.retired || row.taken != seqOf(word)) {
    row.releaseDue = isQuarantined(block, slot, word);
    return false;
  }
  ReaderLine& line = block.readers[slot];
  line.command.store(kCommandReset, std::memory_order_relaxed);
  // SYNC: release pairs with the acquire loads of A in Writer::claim and Writer::quarantine.
  line.answered.store(word, std::memory_order_release);
  row.retired = row.releaseDue = false;
  row.released = true;
  row.actionNs = row.dueNs = 0;  // the wait for a person or a tool is no latency
  entry.touched = true;
  return true;
}

// Reads `to` in place of the entry's block, whose slot words `to` has taken over. What was taken and answered since then goes along:
// reader lines have one writer, this process. The actions do not: a slot answered in the old block begins with a reset in the new one.
inline void moveRows(ReaderBlock& entry, std::shared_ptr<Block> to, BellLine* bell, std::vector<ReaderRow>& rows) {
  const Block& from = *entry.block;
  for (uint32_t slot = 0; slot < from.slots; slot++) {
    ReaderLine& line = to->readers[slot];
    line.taken.store(rows[entry.firstRow + slot].taken, std::memory_order_relaxed);
    // SYNC: release pairs with the acquire loads of A in Writer::claim and Writer::quarantine.
    line.answered.store(from.readers[slot].answered.load(std::memory_order_relaxed), std::memory_order_release);
  }
  entry.block = std::move(to);
  entry.bell = bell;
  entry.touched = true;
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
    row.pending = row.held = false;
    row.retired = true;
    row.releaseDue = false;
    entry.block->readers[slot].taken.store(seq, std::memory_order_relaxed);
  }
  return left;
}

// Wakes every worker whose slots were answered since the last call, once.
inline void ringTouched(std::vector<ReaderBlock>& blocks) {
  for (ReaderBlock& entry : blocks) {
    if (!entry.touched) continue;
    // Blocks of one worker share a bell: clear all of them so that it rings once.
    for (ReaderBlock& other : blocks) {
      if (other.bell == entry.bell) other.touched = false;
    }
    ringBell(*entry.bell);
  }
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
