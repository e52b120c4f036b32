// What recovery does to slots while worker and reader run at full speed: parked, built anew, quarantined, released, and taken over into fresh
// memory while the old worker still writes. `lives threads|processes`: the worker as a thread (for ThreadSanitizer) or as a process.
#include <sys/wait.h>

#include <string>
#include <thread>

#include "learner.h"
#include "take-over.h"

using namespace envladder;
using namespace envladder::test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kFrames = 10'000, kTakeovers = 5;
#else
constexpr uint64_t kFrames = 200'000, kTakeovers = 20;
#endif
constexpr uint64_t kScribbles = 200;

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

// Runs a worker as a thread or as a process; `join` ends it.
struct Life {
  const Scene scene;
  const bool asThread;
  std::thread thread;
  pid_t pid = 0;

  template <class Work>
  Life(int fd, const Shape& shape, bool asThread, Work work) : scene(openScene(fd, shape)), asThread(asThread) {
    if (asThread) thread = std::thread([this, work] { work(scene); });
    else pid = spawn([&] { work(openScene(fd, shape)); });
  }
  Notes& notes() const { return notesOf(scene); }
  void join() {
    if (asThread) return thread.join();
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
};

// Goal: slots that fail, are built anew, leave and come back at random cost nobody else a frame: all frames whole, in order, once; each lost
// trajectory said so; the books of worker, reader and control words are equal.
void envsFailAndComeBack(bool asThread, uint32_t cells, uint64_t seed) {
  Shape shape;
  shape.slots = 16;
  shape.cells = cells;
  shape.cellBytes = 256;
  const int fd = makeObject(shape);
  Learner learner(openScene(fd, shape), shape);
  learner.releases = true;
  const Block& block = *learner.scene.block;
  CHECK(fenceBlock(block, 1));
  Life life(fd, shape, asThread, [seed](const Scene& scene) {
    Restless worker{scene, 1, true, Dice{seed}};
    CHECK(!worker.run());
  });
  while (learner.frames < kFrames) learner.turn();
  life.notes().stop.store(1, std::memory_order_relaxed);
  ringBell(*learner.scene.workBell);
  life.join();
  for (int i = 0; i < 3; i++) learner.turn();
  const Scan scan = scanBlock(block);
  const Notes& notes = life.notes();
  CHECK(learner.wrong == 0 && learner.reader->torn == 0 && learner.reader->outOfOrder == 0);
  CHECK(scan.published == learner.frames && scan.taken == learner.frames && notes.published == learner.frames);
  CHECK(learner.abandoned == notes.abandoned && learner.abandoned > kFrames / 100);
  CHECK(learner.ends == notes.ends && learner.ends > kFrames / 1000);
  close(fd);
}

// A worker that is taken for dead and is not. Fenced, it goes on as badly as it can: first in the cell that it has leased, then, when nobody
// reads its memory any more, everywhere, slot words included.
void haunt(const Scene& scene, uint64_t epoch, uint64_t seed) {
  Restless worker{scene, epoch, false, Dice{seed}};
  if (!worker.run()) return;
  Notes& notes = notesOf(scene);
  notes.fenced.store(1, std::memory_order_release);
  const Block& block = *scene.block;
  const Plane& plane = block.planes[0];
  while (notes.stop.load(std::memory_order_relaxed) == 0) {
    const bool wild = notes.goWild.load(std::memory_order_acquire) != 0;
    for (uint32_t slot = 0; slot < block.slots; slot++) {
      const uint64_t seq = seqOf(block.writers[slot].published.load(std::memory_order_relaxed)) + 1;
      if (!wild) fillWords(block.cellAt(plane, slot, block.cellOf(seq)), 0, plane.cellBytes / 8, 99, seq, slot);
      for (uint32_t cell = 0; wild && cell < block.cells; cell++) fillWords(block.cellAt(plane, slot, cell), 0, plane.cellBytes / 8, 99, seq, slot);
      if (wild) block.writers[slot].published.store(slotWord(epoch, seq), std::memory_order_release);
    }
    ringBell(*scene.frameBell);
    notes.scribbles.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::yield();
  }
}

void move(Learner& learner, const Scene& fresh) {
  learner.replace(fresh);
  CHECK(scanBlock(*fresh.block).taken == learner.frames);
}

// Goal: the range moves to fresh memory again and again while workers and reader run; of what a zombie does to the old memory nothing arrives.
void zombiesHauntOldMemory(bool asThread, uint32_t cells, uint64_t seed) {
  Shape shape;
  shape.slots = 8;
  shape.cells = cells;
  shape.cellBytes = 512;
  int fd = makeObject(shape);
  Learner learner(openScene(fd, shape), shape);
  CHECK(fenceBlock(*learner.scene.block, 1));
  Dice dice{seed};
  const auto turns = [&] {
    for (uint64_t i = dice.roll(200); i > 0; i--) learner.turn();
  };
  auto life = std::make_unique<Life>(fd, shape, asThread, [seed](const Scene& scene) { haunt(scene, 1, seed); });
  while (!std::all_of(learner.last.begin(), learner.last.end(), [](uint64_t seq) { return seq > 0; })) learner.turn();
  for (uint64_t epoch = 2; epoch < 2 + kTakeovers; epoch++) {
    turns();
    const int freshFd = makeObject(shape);
    const Scene fresh = openScene(freshFd, shape);
    CHECK(takeOverBlock(*fresh.block, *learner.scene.block, epoch));
    learner.newest = epoch;
    // The reader moves at once, with frames that it finds in the new memory first, or goes on with the old one for a while.
    const bool atOnce = dice.roll(2) == 0;
    if (atOnce) move(learner, fresh);
    else turns();
    auto next = std::make_unique<Life>(freshFd, shape, asThread, [=](const Scene& scene) { haunt(scene, epoch, seed + epoch); });
    turns();
    // With no answer to work on, the old worker may never learn that it was fenced.
    while (!atOnce && life->notes().fenced.load(std::memory_order_acquire) == 0) learner.turn();
    turns();
    if (!atOnce) move(learner, fresh);
    life->notes().goWild.store(1, std::memory_order_release);
    const uint64_t from = life->notes().scribbles.load(std::memory_order_relaxed);
    while (!learner.caughtUp() || life->notes().scribbles.load(std::memory_order_relaxed) < from + kScribbles) learner.turn();
    life->notes().stop.store(1, std::memory_order_relaxed);
    life->join();
    life = std::move(next);
    close(fd);
    fd = freshFd;
    CHECK(learner.wrong == 0 && learner.reader->torn == 0 && learner.reader->outOfOrder == 0);
  }
  life->notes().stop.store(1, std::memory_order_relaxed);
  ringBell(*learner.scene.workBell);
  life->join();
  for (int i = 0; i < 3; i++) learner.turn();
  const Scan scan = scanBlock(*learner.scene.block);
  CHECK(learner.wrong == 0 && scan.published == learner.frames && scan.taken == learner.frames);
  CHECK(learner.abandoned == kTakeovers * shape.slots);  // once per slot and life
  close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 7;
  if ((how != "threads" && how != "processes") || seed == 0) {
    std::fprintf(stderr, "lives threads|processes [SEED >= 1]\n");
    return 2;
  }
  int passed = 0;
  for (const uint32_t cells : {2u, 3u}) {
    envsFailAndComeBack(how == "threads", cells, seed);
    zombiesHauntOldMemory(how == "threads", cells, seed);
    passed += 2;
  }
  std::printf("{\"passed\":%d}\n", passed);
  return 0;
}
