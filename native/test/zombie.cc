// A worker that was stopped in the middle of a frame, taken for dead, fenced and replaced, and that then wakes up: it must not publish.
// Processes: this one (supervisor and reader), the old worker (epoch 1), the new worker (epoch 2). Exit 0 when everything held.
#include <sys/wait.h>

#include "learner.h"

using namespace envladder;
using namespace envladder::test;

namespace {

constexpr int kFencedExit = 71;  // CHILD_EXIT.fenced of harness/contract/child-exit-codes.ts
constexpr uint64_t kRounds = 200;

void writeRound(const Block& block, Writer& writer, WriterArrays& arrays, uint64_t epoch, bool stopHalfway) {
  int retired = 0;
  if (writer.claim(block.slots, retired) <= 0) return;
  const Plane& plane = block.planes[0];
  const uint64_t words = plane.cellBytes / 8;
  for (uint32_t slot = 0; slot < block.slots; slot++) {
    if (writer.state(slot) != SlotState::stepping && writer.state(slot) != SlotState::resetting) continue;
    uint8_t* cell = plane.base + arrays.cell[slot] * plane.cellBytes;
    const uint64_t seq = writer.seq(slot) + 1;
    arrays.reward[slot] = double(seq);
    const unsigned lost = writer.wasAbandoned(slot) ? kAbandoned : 0u;
    arrays.flags[slot] = writer.state(slot) == SlotState::resetting ? uint8_t(kFirst | lost) : 0;
    fillWords(cell, 0, words / 2, epoch, seq, slot);
    if (stopHalfway && slot == block.slots / 2) raise(SIGSTOP);
    fillWords(cell, words / 2, words, epoch, seq, slot);
  }
  if (writer.publish(Check::off) < 0) _exit(kFencedExit);
}

// Publishes `rounds` rounds, then (stopHalfway) one more that is never finished before the fence.
void work(int fd, const Shape& shape, uint64_t epoch, uint64_t rounds, bool stopHalfway) {
  const Scene scene = openScene(fd, shape);
  WriterArrays arrays(shape.slots);
  Writer writer(*scene.block, epoch, noBounds(), arrays.view());
  if (writer.fenced()) _exit(kFencedExit);
  for (uint32_t slot = 0; slot < shape.slots; slot++) writer.activate(slot);
  const uint64_t start = writer.seq(0);
  for (;;) {
    const uint64_t done = writer.seq(0) - start;
    if (!stopHalfway && done == rounds) _exit(0);
    const uint32_t seen = scene.workBell->word.load();
    writeRound(*scene.block, writer, arrays, epoch, stopHalfway && done == rounds);
    ringBell(*scene.frameBell);
    waitBell(*scene.workBell, seen, 1'000'000);
  }
}

}  // namespace

int main() {
  Shape shape;
  shape.slots = 16;
  shape.cellBytes = 4096;
  const int fd = makeObject(shape);
  Learner learner(openScene(fd, shape), shape);
  const Block& block = *learner.scene.block;
  fenceBlock(block, 1);

  const pid_t old = spawn([&] { work(fd, shape, 1, kRounds, true); });
  int status = 0;
  while (waitpid(old, &status, WUNTRACED | WNOHANG) == 0) learner.turn();
  CHECK(WIFSTOPPED(status));
  learner.turn();
  const uint64_t before = learner.frames;
  CHECK(before == kRounds * shape.slots && learner.wrong == 0);

  CHECK(fenceBlock(block, 2));
  learner.newest = 2;
  const pid_t fresh = spawn([&] { work(fd, shape, 2, kRounds, false); });
  while (waitpid(fresh, &status, WNOHANG) == 0) learner.turn();
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  while (learner.frames < before + kRounds * shape.slots) learner.turn();
  CHECK(learner.wrong == 0);
  CHECK(learner.abandoned == shape.slots);  // the first frame of each slot says that a trajectory was lost

  std::vector<uint64_t> words;
  for (uint32_t slot = 0; slot < shape.slots; slot++) words.push_back(block.writers[slot].published.load());
  kill(old, SIGCONT);
  CHECK(waitpid(old, &status, 0) == old);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kFencedExit) {
    std::fprintf(stderr, "zombie: the old worker ended with status %d, not with exit code %d\n", status, kFencedExit);
    return 1;
  }
  for (uint32_t slot = 0; slot < shape.slots; slot++) CHECK(block.writers[slot].published.load() == words[slot]);
  CHECK(confirmDeath(old, 0) == 1);

  std::printf("{\"old\":%llu,\"new\":%llu,\"abandoned\":%llu,\"oldExit\":%d}\n", (unsigned long long)before,
              (unsigned long long)(learner.frames - before), (unsigned long long)learner.abandoned, kFencedExit);
  return 0;
}
