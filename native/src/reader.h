// The learner's side: finds ready frames over many blocks, gathers them into one batch, and answers them with actions. One thread
// (plus helpers for large cells); per-row memory is private, so the shared lines are touched once to read and once to answer.
#pragma once
#include <algorithm>
#include <memory>

#include "batch-rows.h"
#include "clock.h"
#include "gather.h"
#include "histogram.h"
#include "pace.h"
#include "reader-rows.h"
#include "thread-pool.h"

namespace envladder {

class Reader {
 public:
  using Arrays = BatchRows;
  static constexpr uint64_t kThreadCellBytes = 16 * 1024;
  static constexpr uint32_t kChunk = 64;  // rows per pass: their control lines (4 KiB) and small cells stay in L1
  static constexpr uint32_t kAhead = 12;

  uint64_t collected = 0, torn = 0, outOfOrder = 0, bytesCopied = 0;
  int episodeCount = 0;
  Histogram latency;
  Pace pace;

  // `periodNs`: time between two steps of a slot, 0 = as fast as they are answered.
  Reader(uint32_t batchLimit, unsigned threads, std::vector<Part> parts, std::vector<Output> outputs, Arrays arrays, uint64_t periodNs = 0)
      : pace(periodNs), batchLimit_(batchLimit), parts_(std::move(parts)), outputs_(std::move(outputs)), arrays_(arrays) {
    picks_.resize(batchLimit);
    words_.resize(batchLimit);
    publishNs_.resize(batchLimit);
    if (threads > 1) pool_ = std::make_unique<ThreadPool>(threads);
  }

  uint32_t rows() const { return uint32_t(rows_.size()); }

  uint32_t add(std::shared_ptr<Block> block, BellLine* bell, std::vector<uint32_t> planeOf) {
    const uint32_t first = rows();
    appendRows(*block, uint16_t(blocks_.size()), rows_);
    blocks_.push_back({std::move(block), bell, std::move(planeOf), first, false, false});
    return first;
  }

  // Takes what a dead worker left and stops looking at the block.
  uint64_t drop(const Block* which) {
    uint64_t left = 0;
    for (ReaderBlock& entry : blocks_) {
      if (entry.block.get() == which && !entry.dropped) left += retireRows(entry, rows_);
    }
    return left;
  }

  // Reads `to` in place of `which` from here on. False when `which` is not read.
  bool replace(const Block* which, std::shared_ptr<Block> to, BellLine* bell) {
    bool found = false;
    for (ReaderBlock& entry : blocks_) {
      if (entry.block.get() != which || entry.dropped) continue;
      moveRows(entry, to, bell, rows_);
      found = true;
    }
    ringTouched(blocks_);
    return found;
  }

  // Ends the quarantine of a row. False when there is no such row.
  bool release(int64_t at) {
    if (at < 0 || at >= int64_t(rows_.size())) return false;
    ReaderRow& row = rows_[size_t(at)];
    ReaderBlock& entry = blocks_[row.block];
    if (!entry.dropped && releaseRow(entry, row, uint32_t(at) - entry.firstRow)) ringTouched(blocks_);
    return true;
  }

  uint32_t collect(uint32_t limit) {
    limit = std::min(limit, batchLimit_);
    episodeCount = 0;
    letGoDue();
    const uint32_t total = rows();
    uint32_t taken = 0;
    if (total == 0 || limit == 0) return 0;
    if (cursor_ >= total) cursor_ = 0;
    for (uint32_t visited = 0; visited < total && taken < limit;) {
      ReaderBlock& entry = blocks_[rows_[cursor_].block];
      const uint32_t slot = cursor_ - entry.firstRow;
      const uint32_t span = std::min(entry.block->slots - slot, total - visited);
      const uint32_t seen = entry.dropped ? span : collectFrom(entry, slot, span, limit, taken);
      visited += seen;
      cursor_ += seen;
      if (cursor_ >= total) cursor_ = 0;
    }
    collected += taken;
    ringTouched(blocks_);  // rows that were released while their last frame was taken
    return taken;
  }

  // Answers `count` rows. Returns -1 when all went well, else the index of the first row that has no frame to answer (nothing after it
  // is answered). Retired rows are passed over: their last frame expects no action.
  int64_t answer(uint32_t count, const int32_t* rows, const uint8_t* actions, uint32_t actionBytes, Command command) {
    const uint64_t nowNs = monotonicNs();
    int64_t bad = -1;
    const auto total = int64_t(rows_.size());
    for (uint32_t i = 0; i < count; i++) {
      if (rows[i] < 0 || rows[i] >= total) {
        bad = i;
        break;
      }
      if (i + kAhead < count && uint32_t(rows[i + kAhead]) < rows_.size()) {
        const ReaderRow& ahead = rows_[uint32_t(rows[i + kAhead])];
        const ReaderBlock& entry = blocks_[ahead.block];
        __builtin_prefetch(&entry.block->readers[uint32_t(rows[i + kAhead]) - entry.firstRow], 1);
      }
      ReaderRow& row = rows_[uint32_t(rows[i])];
      if (row.retired || row.released) continue;
      if (!row.pending) {
        bad = i;
        break;
      }
      ReaderBlock& entry = blocks_[row.block];
      const Block& block = *entry.block;
      const uint32_t slot = uint32_t(rows[i]) - entry.firstRow;
      ReaderLine& line = block.readers[slot];
      if (actions) std::memcpy(block.action(slot), actions + uint64_t(i) * actionBytes, actionBytes);
      line.command.store(command, std::memory_order_relaxed);
      row.pending = false;
      if (pace.on()) {
        row.dueNs = pace.next(row.dueNs, nowNs, uint32_t(rows[i]));
        if (row.dueNs > nowNs) {
          row.held = true;
          pace.hold(row.dueNs, uint32_t(rows[i]));
          continue;
        }
      }
      letGo(entry, row, line, nowNs);
    }
    ringTouched(blocks_);
    return bad;
  }

 private:
  // Makes the answer visible to the worker.
  static void letGo(ReaderBlock& entry, ReaderRow& row, ReaderLine& line, uint64_t nowNs) {
    line.actionNs.store(nowNs, std::memory_order_relaxed);
    // SYNC: release pairs with the acquire loads of A in Writer::claim and Writer::quarantine. It also keeps this reader's copies of the
    // cells before it: the worker may overwrite them from here on.
    line.answered.store(row.word, std::memory_order_release);
    row.actionNs = nowNs;
    row.held = false;
    entry.touched = true;
  }

  // Answers whose time has come.
  void letGoDue() {
    if (!pace.on()) return;
    const uint64_t nowNs = monotonicNs();
    while (pace.isDue(nowNs)) {
      const Pace::Held held = pace.take();
      ReaderRow& row = rows_[held.row];
      // Its block was dropped meanwhile.
      if (!row.held) continue;
      pace.lag.record(nowNs - held.dueNs);
      ReaderBlock& entry = blocks_[row.block];
      letGo(entry, row, entry.block->readers[held.row - entry.firstRow], nowNs);
    }
    ringTouched(blocks_);
  }

  // Looks at up to `span` slots from `slot` on; appends to the batch. Returns how many slots it looked at.
  uint32_t collectFrom(ReaderBlock& entry, uint32_t slot, uint32_t span, uint32_t limit, uint32_t& taken) {
    const Block& block = *entry.block;
    uint64_t cellBytes = 0;
    for (const uint32_t plane : entry.planeOf) cellBytes += block.planes[plane].cellBytes;
    const bool threaded = pool_ && cellBytes >= kThreadCellBytes;
    uint32_t seen = 0;
    while (seen < span && taken < limit) {
      const uint32_t room = threaded ? limit - taken : std::min(kChunk, limit - taken);
      uint32_t picked = 0;
      bool anyFinal = false;
      for (; seen < span && picked < room; seen++) {
        const uint32_t at = slot + seen;
        __builtin_prefetch(&block.writers[at + kAhead < block.slots ? at + kAhead : at]);
        ReaderRow& row = rows_[entry.firstRow + at];
        if (row.pending || row.retired) continue;
        const WriterLine& line = block.writers[at];
        // SYNC: acquire pairs with the release CAS of P in Writer::store: record and cell of that frame are complete.
        const uint64_t word = line.published.load(std::memory_order_acquire);
        const uint64_t seq = seqOf(word);
        if (seq == row.taken) continue;
        if (seq != row.taken + 1) {
          outOfOrder++;
          if (seq < row.taken) continue;
        }
        const uint32_t cell = block.cellOf(seq), index = taken + picked;
        const Record& record = block.record(at, cell);
        picks_[picked] = {at, cell};
        words_[picked] = word;
        publishNs_[picked] = line.publishNs.load(std::memory_order_relaxed);
        arrays_.rowOf[index] = int32_t(entry.firstRow + at);
        arrays_.reward[index] = record.reward;
        const uint32_t flags = record.flags.load(std::memory_order_relaxed);
        arrays_.flags[index] = uint8_t(flags);
        anyFinal |= (flags & kFinal) != 0;
        picked++;
      }
      if (picked == 0) continue;
      gather(entry, picked, taken, threaded);
      if (anyFinal && block.autoreset == Autoreset::sameStep) gatherFinals(entry, picked, taken);
      taken += commit(entry, picked, taken);
    }
    return seen;
  }

  void gather(const ReaderBlock& entry, uint32_t picked, uint32_t firstRow, bool threaded) {
    if (!threaded || picked == 1) {
      bytesCopied += gatherRows(*entry.block, parts_, entry.planeOf, outputs_, picks_.data(), picked, firstRow, false);
      return;
    }
    pool_->forEach(picked, [&](uint32_t i) {
      gatherRows(*entry.block, parts_, entry.planeOf, outputs_, picks_.data() + i, 1, firstRow + i, false);
    });
    for (const Part& part : parts_) bytesCopied += part.bytes * picked;
  }

  void gatherFinals(const ReaderBlock& entry, uint32_t picked, uint32_t firstRow) {
    for (uint32_t i = 0; i < picked; i++) {
      if ((arrays_.flags[firstRow + i] & kFinal) == 0) continue;
      bytesCopied += gatherRows(*entry.block, parts_, entry.planeOf, outputs_, picks_.data() + i, 1, firstRow + i, true);
    }
  }

  // Second look at P, then the frame counts as taken. Rows whose word moved are closed up (with a lease there are none).
  uint32_t commit(ReaderBlock& entry, uint32_t picked, uint32_t firstRow) {
    // SYNC: orders the copies before the second look, like peekCell.
    std::atomic_thread_fence(std::memory_order_acquire);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < picked; i++) {
      const uint32_t slot = picks_[i].slot;
      const uint64_t seq = seqOf(words_[i]);
      const uint64_t now = entry.block->writers[slot].published.load(std::memory_order_relaxed);
      if (seqOf(now) != seq) {
        torn++;
        continue;
      }
      const uint32_t index = firstRow + kept;
      if (kept != i) moveBatchRow(arrays_, outputs_, index, firstRow + i);
      kept++;
      ReaderRow& row = rows_[entry.firstRow + slot];
      row.taken = seq;
      row.word = words_[i];
      row.pending = true;
      row.released = false;
      entry.block->readers[slot].taken.store(seq, std::memory_order_relaxed);
      if (row.actionNs != 0 && publishNs_[i] >= row.actionNs) {
        latency.record(publishNs_[i] - row.actionNs);
        if (row.dueNs != 0) pace.response.record(publishNs_[i] - row.dueNs);
      }
      const uint8_t flags = arrays_.flags[index];
      if ((flags & kQuarantined) != 0) {
        row.retired = true;
        row.pending = false;
        if (row.releaseDue) releaseRow(entry, row, slot);
      }
      if (!countFrame(row, flags, arrays_.reward[index])) continue;
      arrays_.episodeRow[episodeCount] = int32_t(entry.firstRow + slot);
      arrays_.episodeReturn[episodeCount] = row.endedReturn;
      arrays_.episodeLength[episodeCount] = int32_t(row.endedLength);
      episodeCount++;
    }
    return kept;
  }

  const uint32_t batchLimit_;
  const std::vector<Part> parts_;
  const std::vector<Output> outputs_;
  const Arrays arrays_;
  std::vector<ReaderBlock> blocks_;
  std::vector<ReaderRow> rows_;
  std::vector<Pick> picks_;
  std::vector<uint64_t> words_, publishNs_;
  std::unique_ptr<ThreadPool> pool_;
  uint32_t cursor_ = 0;
};

}  // namespace envladder
