// The worker's side of a block: lease slots whose frame was answered, let the caller write cells, publish all of them. One thread, one
// process; everything it must remember between calls lies in private memory, so a scan touches only the reader's line of each slot.
#pragma once
#include <algorithm>
#include <vector>

#include "check.h"
#include "clock.h"
#include "writer-slots.h"

namespace envladder {

class Writer {
 public:
  // Arrays the caller (JavaScript) reads and writes, each indexed by slot.
  struct Arrays {
    uint32_t* cell;
    double* reward;
    uint8_t* flags;
    int32_t* runs;    // [first, count] pairs, room for 2 * slots
    int32_t* resets;  // room for slots
  };

  static constexpr int kFenced = -1;
  // How far ahead control lines are fetched: a line comes from the other core in about 60 ns, a slot takes about 8.
  static constexpr size_t kAhead = 10;

  int runCount = 0, resetCount = 0;
  std::vector<Breach> breaches;

  Writer(const Block& block, uint64_t epoch, std::vector<KeyBounds> bounds, Arrays arrays)
      : block_(block), epoch_(epoch), bounds_(std::move(bounds)), arrays_(arrays), slots_(block.slots), deferred_(block.slots) {
    claimed_.reserve(block.slots);
    for (uint32_t i = 0; i < block_.slots; i++) {
      // SYNC: acquire pairs with the release CAS of P in Writer::store by the life before this one (and the acq_rel one in fenceBlock): the
      // record that isQuarantined looks at is complete.
      const uint64_t word = block_.writers[i].published.load(std::memory_order_acquire);
      fenced_ |= epochOf(word) > epoch_;
      const bool retired = isQuarantined(block_, i, word);
      slots_[i] = {word, retired ? SlotState::retired : SlotState::inactive, 0, true, seqOf(word) != 0};
    }
  }

  bool fenced() const { return fenced_; }
  bool wasAbandoned(uint32_t slot) const { return slots_[slot].fresh && slots_[slot].abandoned; }
  SlotState state(uint32_t slot) const { return slots_[slot].state; }
  uint64_t seq(uint32_t slot) const { return seqOf(slots_[slot].word); }

  void activate(uint32_t slot) {
    if (slots_[slot].state == SlotState::inactive) slots_[slot].state = SlotState::waiting;
  }

  // Returns the number of leased slots, or kFenced when a delayed quarantine met a newer epoch. `retiredNow` counts those published.
  int claim(uint32_t limit, int& retiredNow) {
    retiredNow = 0;
    const int claimed = claimPass(limit, retiredNow, false);
    // Nobody else is due: a deferred slot may use the idle time, one at a time, so that whoever is answered meanwhile waits for one step.
    return claimed == 0 && held_ ? claimPass(1, retiredNow, true) : claimed;
  }

  // Passes the slot over in its next `rounds` claims, unless nothing else is due: a step that is ten times slower than its neighbours' is
  // taken ten times rarer, and delays only itself.
  void defer(uint32_t slot, uint8_t rounds) { deferred_[slot] = rounds; }

  // Publishes every leased slot that is not refused or retired. Returns their number, or kFenced.
  int publish(Check check) {
    breaches.clear();
    const uint64_t nowNs = monotonicNs();
    int published = 0;
    const size_t count = claimed_.size();
    for (size_t i = 0; i < count; i++) {
      // The CAS drains the store buffer: with the line already owned that is a few ns, without it the full trip to the other core.
      if (i + kAhead < count) __builtin_prefetch(&block_.writers[claimed_[i + kAhead]], 1);
      const uint32_t slot = claimed_[i];
      WriterSlot& own = slots_[slot];
      if (own.state != SlotState::stepping && own.state != SlotState::resetting) continue;
      if (breaks(slot, check)) {
        own.state = SlotState::refused;
        continue;
      }
      if (!store(slot, arrays_.reward[slot], arrays_.flags[slot], nowNs)) return kFenced;
      own.state = SlotState::waiting;
      published++;
    }
    claimed_.clear();
    return published;
  }

  // Retires a slot with a last frame of zeros. 1 published, 0 as soon as it is leased, kFenced otherwise.
  int quarantine(uint32_t slot) {
    WriterSlot& own = slots_[slot];
    if (own.state == SlotState::retired || own.state == SlotState::retiring) return 0;
    // SYNC: acquire pairs with the release store of A in Reader::answer: the reader left the cell that retire() fills with zeros.
    const bool leased = own.state == SlotState::stepping || own.state == SlotState::resetting || own.state == SlotState::refused ||
                        seqOf(block_.readers[slot].answered.load(std::memory_order_acquire)) == seqOf(own.word);
    if (!leased) {
      own.state = SlotState::retiring;
      return 0;
    }
    return retire(slot) ? 1 : kFenced;
  }

  // Takes a slot out of the round: nothing is published for it and no claim lists it. What a quarantine holds stays with the quarantine.
  void park(uint32_t slot) {
    SlotState& state = slots_[slot].state;
    if (state != SlotState::retired && state != SlotState::retiring) state = SlotState::parked;
  }

  // The parked slot's env is built again. Its next frame is a reset, and the trajectory before it is lost.
  void unpark(uint32_t slot) {
    if (slots_[slot].state == SlotState::parked) startOver(slot);
  }

  // Ends a quarantine, published or still to come. The slot becomes claimable when the reader has answered its newest frame.
  void release(uint32_t slot) {
    const SlotState state = slots_[slot].state;
    if (state == SlotState::retired || state == SlotState::retiring) startOver(slot);
  }

  // same-step: keeps the ended episode's last observation beside the cell that the next episode's first will overwrite.
  void keepFinal(uint32_t slot) {
    const uint32_t cell = arrays_.cell[slot] - slot * block_.cells;
    for (const Plane& plane : block_.planes) {
      if (plane.finals) std::memcpy(block_.finalAt(plane, slot, cell), block_.cellAt(plane, slot, cell), plane.cellBytes);
    }
  }

 private:
  void startOver(uint32_t slot) {
    WriterSlot& own = slots_[slot];
    own = {own.word, SlotState::waiting, own.flags, true, seqOf(own.word) != 0};
    deferred_[slot] = 0;
  }

  // One sweep over the slots from the cursor on. `idle`: deferred slots count as due.
  int claimPass(uint32_t limit, int& retiredNow, bool idle) {
    claimed_.clear();
    runCount = resetCount = 0;
    held_ = false;
    // SYNC: everything this writer published stays before everything it writes next; pairs with the fence in peekCell.
    std::atomic_thread_fence(std::memory_order_release);
    uint32_t slot = cursor_, runEnd = UINT32_MAX;
    if (slot >= block_.slots) slot = 0;
    for (uint32_t visited = 0; visited < block_.slots && claimed_.size() < limit; visited++) {
      __builtin_prefetch(&block_.readers[slot + kAhead < block_.slots ? slot + kAhead : slot]);
      WriterSlot& own = slots_[slot];
      if (own.state == SlotState::waiting || own.state == SlotState::retiring) {
        ReaderLine& line = block_.readers[slot];
        // SYNC: acquire pairs with the release store of A in Reader::answer: the action is complete and the reader left the cells.
        const uint64_t seq = seqOf(own.word);
        if (seqOf(line.answered.load(std::memory_order_acquire)) == seq) {
          if (own.state == SlotState::retiring) {
            if (!retire(slot)) return kFenced;
            retiredNow++;
          } else if (!idle && deferred_[slot] != 0) {
            deferred_[slot]--;
            held_ = true;
          } else {
            deferred_[slot] = 0;
            const bool reset = own.fresh || line.command.load(std::memory_order_relaxed) == kCommandReset ||
                               (block_.autoreset == Autoreset::nextStep && (own.flags & kDone) != 0);
            arrays_.cell[slot] = slot * block_.cells + block_.cellOf(seq + 1);
            arrays_.reward[slot] = 0;
            arrays_.flags[slot] = 0;
            claimed_.push_back(slot);
            if (reset) {
              own.state = SlotState::resetting;
              arrays_.resets[resetCount++] = int32_t(slot);
            } else {
              own.state = SlotState::stepping;
              if (slot == runEnd) {
                arrays_.runs[2 * runCount - 1]++;
              } else {
                arrays_.runs[2 * runCount] = int32_t(slot);
                arrays_.runs[2 * runCount + 1] = 1;
                runCount++;
              }
              runEnd = slot + 1;
            }
          }
        }
      }
      if (++slot == block_.slots) {
        slot = 0;
        runEnd = UINT32_MAX;
      }
    }
    cursor_ = slot;
    return int(claimed_.size());
  }

  bool retire(uint32_t slot) {
    const uint32_t cell = block_.cellOf(seqOf(slots_[slot].word) + 1);
    for (const Plane& plane : block_.planes) std::memset(block_.cellAt(plane, slot, cell), 0, plane.cellBytes);
    if (!store(slot, 0, kAbandoned | kQuarantined, monotonicNs())) return false;
    slots_[slot].state = SlotState::retired;
    return true;
  }

  bool store(uint32_t slot, double reward, uint32_t flags, uint64_t nowNs) {
    WriterSlot& own = slots_[slot];
    WriterLine& line = block_.writers[slot];
    const uint64_t seq = seqOf(own.word) + 1;
    Record& record = block_.record(slot, block_.cellOf(seq));
    record.reward = reward;
    record.flags.store(flags, std::memory_order_relaxed);
    line.publishNs.store(nowNs, std::memory_order_relaxed);
    uint64_t expected = own.word;
    const uint64_t next = slotWord(epoch_, seq);
    // SYNC: release pairs with the acquire loads of P in Reader::collectFrom, peekCell, scanBlock, appendRows, retireRows and the next
    // life's Writer: cell and record of the frame are complete. The CAS fails only after a fence by the supervisor.
    if (!line.published.compare_exchange_strong(expected, next, std::memory_order_release, std::memory_order_relaxed)) return false;
    own.word = next;
    own.flags = uint8_t(flags);
    own.fresh = false;
    return true;
  }

  bool breaks(uint32_t slot, Check check) {
    Breach breach{slot, -1, 0, arrays_.reward[slot], false};
    bool broken = !std::isfinite(breach.value);
    const bool look = check == Check::full || (check == Check::sampled && ((seqOf(slots_[slot].word) + slot) & 63) == 0);
    if (!broken && look) {
      const uint32_t cell = arrays_.cell[slot] - slot * block_.cells;
      const bool final = (arrays_.flags[slot] & kFinal) != 0;
      for (size_t i = 0; i < block_.planes.size() && !broken; i++) {
        const Plane& plane = block_.planes[i];
        if (!bounds_[i].needed) continue;
        broken = cellBreaks(plane, bounds_[i], block_.cellAt(plane, slot, cell), breach) ||
                 (final && plane.finals && cellBreaks(plane, bounds_[i], block_.finalAt(plane, slot, cell), breach));
        breach.plane = int32_t(i);
      }
    }
    if (broken) breaches.push_back(breach);
    return broken;
  }

  const Block& block_;
  const uint64_t epoch_;
  const std::vector<KeyBounds> bounds_;
  const Arrays arrays_;
  std::vector<WriterSlot> slots_;
  std::vector<uint32_t> claimed_;
  std::vector<uint8_t> deferred_;
  bool held_ = false;
  uint32_t cursor_ = 0;
  bool fenced_ = false;
};

}  // namespace envladder
