// What recovery does to slots while worker and reader run at full speed: parked, built anew, quarantined, released, and taken over into
// fresh memory while the old worker still writes. `lives threads|processes`: the worker as a thread (for ThreadSanitizer) or as a process.
#include <sys/wait.h>

#include <string>
#include <thread>

#include "learner.h"
#include "restless.h"
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

// Goal: slots that fail, are built anew, leave and come back at random cost nobody else a frame: all frames whole, in order, once; each
// lost trajectory said so; the books of worker, reader and control words are equal.
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

// A worker that is taken for dead and is not. Fenced, it goes on as badly as it can: first in the cell that it has leased, then, when
// nobody reads its memory any more, everywhere, slot words included.
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
      const uint32_t leased = block.cellOf(seq);
      if (!wild) fillWords(block.cellAt(plane, slot, leased), 0, plane.cellBytes / 8, 99, seq, slot);
      for (uint32_t cell = 0; wild && cell < block.cells; cell++) {
        fillWords(block.cellAt(plane, slot, cell), 0, plane.cellBytes / 8, 99, seq, slot);
      }
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

// Goal: the range moves to fresh memory again and again while workers and reader run; nothing of what a zombie does to the old memory
// arrives.
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
