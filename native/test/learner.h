// The reader's side of the native tests that have several lives of a worker in them: takes every frame, proves it whole, of the right life
// and the next of its slot, answers it, and gives quarantined slots back.
#pragma once
#include "process.h"
#include "scene.h"

namespace envladder::test {

// Runs `run` in a process of its own, which dies with this one.
template <class Run>
pid_t spawn(Run run) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  if (!dieWithParent(SIGKILL, parent)) _exit(9);
  run();
  _exit(0);
}

struct Learner {
  Scene scene;
  ReaderArrays arrays;
  std::unique_ptr<Reader> reader;
  std::vector<uint64_t> last;    // newest frame taken, by slot
  std::vector<uint64_t> epochs;  // the life that wrote it
  std::vector<int32_t> actions, quarantined;
  uint64_t newest = 1;  // a frame of this life comes after one that says abandoned
  uint64_t frames = 0, wrong = 0, abandoned = 0, ends = 0;
  bool releases = false;
  Dice dice{12345};

  Learner(const Scene& first, const Shape& shape)
      : scene(first), arrays(shape.slots, shape.cellBytes), reader(rawReader(scene, arrays, shape.slots, 1)), last(shape.slots),
        epochs(shape.slots, 1), actions(shape.slots) {}

  // Takes and answers whatever is there. Waits a moment when there is nothing.
  void turn() {
    const uint32_t seen = scene.frameBell->word.load(std::memory_order_acquire);
    const uint32_t count = reader->collect(scene.block->slots);
    for (uint32_t i = 0; i < count; i++) look(uint32_t(arrays.rowOf[i]), arrays.flags[i], uint64_t(arrays.reward[i]), i);
    frames += count;
    if (releases) release();
    CHECK(reader->answer(count, arrays.rowOf.data(), reinterpret_cast<uint8_t*>(actions.data()), 4, kCommandStep) == -1);
    if (count == 0) waitBell(*scene.frameBell, seen, 1'000'000);
  }

  // Reads `next` from here on.
  void replace(const Scene& next) {
    CHECK(reader->replace(scene.block.get(), next.block, next.workBell));
    scene = next;
  }

  // Every slot's newest frame comes from the newest life.
  bool caughtUp() const { return std::all_of(epochs.begin(), epochs.end(), [this](uint64_t epoch) { return epoch == newest; }); }

 private:
  void look(uint32_t row, uint8_t flags, uint64_t seq, uint32_t index) {
    const uint64_t bytes = scene.block->planes[0].cellBytes;
    const uint8_t* cell = arrays.rows.data() + index * bytes;
    if ((flags & kQuarantined) != 0) {
      if (seq != 0 || std::any_of(cell, cell + bytes, [](uint8_t byte) { return byte != 0; })) wrong++;
      last[row]++;
      ends++;
      quarantined.push_back(int32_t(row));
      return;
    }
    if ((flags & kAbandoned) != 0) {
      epochs[row] = newest;
      abandoned++;
    }
    if (!wordsAre(cell, bytes / 8, epochs[row], seq, row) || seq != last[row] + 1) wrong++;
    last[row] = seq;
  }

  // Some quarantined rows, at once or later, and now and then one that nobody quarantined (or not yet).
  void release() {
    CHECK(reader->release(int64_t(dice.roll(last.size()))));
    while (!quarantined.empty() && dice.roll(4) != 0) {
      CHECK(reader->release(quarantined.back()));
      quarantined.pop_back();
    }
  }
};

}  // namespace envladder::test
