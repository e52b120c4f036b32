// A worker of the native tests that writes as fast as it is answered, and whose envs fail if they may: parked in the middle of a frame,
// quarantined, given back. It keeps books of its own in the shared object, so that the test can hold the reader's against them.
#pragma once
#include "scene.h"

namespace envladder::test {

// What a worker says about itself, and what it is told; lies behind the bells of its object.
struct Notes {
  Word64 published, abandoned, ends, fenced, scribbles;
  Word32 stop, goWild;
};

Notes& notesOf(const Scene& scene) { return *reinterpret_cast<Notes*>(reinterpret_cast<uint8_t*>(scene.workBell) + 256); }

struct Restless {
  const Scene& scene;
  const uint64_t epoch;
  const bool fails;  // envs fail: slots are parked, quarantined and given back
  Dice dice;
  WriterArrays arrays{scene.block->slots};
  Writer writer{*scene.block, epoch, noBounds(), arrays.view()};
  std::vector<bool> lost = std::vector<bool>(scene.block->slots);
  uint64_t published = 0, abandoned = 0, ends = 0;

  // Until it is told to stop, or is fenced or told to go wild: then it returns true.
  bool run() {
    if (writer.fenced()) return true;
    for (uint32_t slot = 0; slot < scene.block->slots; slot++) {
      writer.activate(slot);
      lost[slot] = writer.seq(slot) != 0;
    }
    Notes& notes = notesOf(scene);
    while (notes.stop.load(std::memory_order_relaxed) == 0) {
      const uint32_t seen = scene.workBell->word.load(std::memory_order_acquire);
      if (!round()) return true;
      ringBell(*scene.frameBell);
      notes.published.store(published, std::memory_order_relaxed);
      notes.abandoned.store(abandoned, std::memory_order_relaxed);
      notes.ends.store(ends, std::memory_order_relaxed);
      if (notes.goWild.load(std::memory_order_acquire) != 0) return true;
      waitBell(*scene.workBell, seen, 200'000);
    }
    return false;
  }

 private:
  bool round() {
    const Block& block = *scene.block;
    int retired = 0;
    if (writer.claim(block.slots, retired) == Writer::kFenced) return false;
    count(retired);
    for (uint32_t slot = 0; slot < block.slots; slot++) {
      const SlotState state = writer.state(slot);
      if (state == SlotState::parked && dice.roll(4) == 0) writer.unpark(slot);
      if (fails && state == SlotState::waiting && dice.roll(256) == 0) fail(slot);
      if (state == SlotState::waiting && fails && dice.roll(512) == 0 && !end(slot)) return false;
      if ((state == SlotState::retired || state == SlotState::retiring) && dice.roll(4) == 0) writer.release(slot);
      if ((state == SlotState::stepping || state == SlotState::resetting) && !write(slot, state == SlotState::resetting)) return false;
    }
    for (uint32_t slot = 0; slot < block.slots; slot++) {
      if (writer.state(slot) != SlotState::stepping && writer.state(slot) != SlotState::resetting) continue;
      abandoned += lost[slot];
      lost[slot] = false;
    }
    const int done = writer.publish(Check::off);
    if (done == Writer::kFenced) return false;
    published += uint64_t(done);
    return true;
  }

  void count(int retired) {
    published += uint64_t(retired);
    ends += uint64_t(retired);
  }

  void fail(uint32_t slot) {
    writer.park(slot);
    lost[slot] = writer.seq(slot) != 0;
  }

  bool end(uint32_t slot) {
    const int done = writer.quarantine(slot);
    if (done == Writer::kFenced) return false;
    lost[slot] = true;  // of the last frame, or of the one that waits for its answer
    count(done);
    return true;
  }

  bool write(uint32_t slot, bool reset) {
    const Plane& plane = scene.block->planes[0];
    CHECK(writer.wasAbandoned(slot) == lost[slot] && (reset || !lost[slot]));
    uint8_t* cell = plane.base + arrays.cell[slot] * plane.cellBytes;
    const uint64_t seq = writer.seq(slot) + 1, words = plane.cellBytes / 8;
    arrays.reward[slot] = double(seq);
    arrays.flags[slot] = reset ? uint8_t(kFirst | (lost[slot] ? kAbandoned : 0u)) : 0;
    fillWords(cell, 0, words / 2, epoch, seq, slot);
    if (fails && dice.roll(16) == 0) return fail(slot), true;
    if (fails && dice.roll(64) == 0) return end(slot);
    fillWords(cell, words / 2, words, epoch, seq, slot);
    return true;
  }
};

}  // namespace envladder::test
