// Does any reader ever see half a frame? A writer process and a reader process over one shared object, while a third stops and continues
// both at random moments. Every word of a frame is a function of (epoch, seq, slot, index).
//
//   torn-frames --mode lease|peek|blind|flip --cell-bytes N --cells D --slots S --frames N --pace flat|burst|slow --pauses 0|1 --seed N
//
//   lease  Writer and Reader of the product           peek  free-running writer, reader that copies and validates
//   blind  mutant: peek without the second look       flip  mutant: two buffers and a 0/1 pointer
//
// Prints one line of JSON. Exit 0: no torn, backwards or duplicate read. 3: some. 4: not enough frames within --seconds.
#include <cinttypes>
#include <string>
#include <sys/wait.h>

#include "peek.h"
#include "process.h"
#include "scene.h"

using namespace envladder;
using namespace envladder::test;

namespace {

struct Options {
  std::string mode = "lease", pace = "flat";
  Shape shape;
  uint64_t frames = 100'000, seed = 1, seconds = 60;
  bool pauses = true;
};

// Lies in anonymous shared memory so that the parent can print it and the writer can see the end.
struct Outcome {
  Word64 frames, torn, backwards, duplicates, retries, reads, written, stop;
};

constexpr uint64_t kEpoch = 5;

void pace(const Options& options, Dice& dice, uint64_t frame) {
  const auto nap = [](uint64_t us) {
    timespec time{0, long(us * 1000)};
    nanosleep(&time, nullptr);
  };
  if (options.pace == "slow") nap(5 + dice.roll(20));
  if (options.pace == "burst" && frame % 64 == 63 && dice.roll(4) == 0) nap(dice.roll(200));
}

// ---- the account's design: two buffers, a pointer that flips between 0 and 1, nobody waits for anybody
void flipWriter(const Options& options, const Scene& scene, Outcome& outcome) {
  Dice dice{options.seed * 2 + 1};
  Word32& pointer = scene.workBell->word;
  const Plane& plane = scene.block->planes[0];
  for (uint64_t seq = 1; outcome.stop.load(std::memory_order_relaxed) == 0; seq++) {
    const uint32_t back = 1 - pointer.load(std::memory_order_relaxed);
    fillWords(plane.base + back * plane.cellBytes, 0, plane.cellBytes / 8, kEpoch, seq, 0);
    pointer.store(back, std::memory_order_release);
    outcome.written.store(seq, std::memory_order_relaxed);
    pace(options, dice, seq);
  }
}

void flipReader(const Options& options, const Scene& scene, Outcome& outcome) {
  const Plane& plane = scene.block->planes[0];
  std::vector<uint8_t> copy(plane.cellBytes);
  while (outcome.frames < options.frames && outcome.stop == 0) {
    if (outcome.written.load(std::memory_order_relaxed) == 0) continue;
    const uint32_t front = scene.workBell->word.load(std::memory_order_acquire);
    copyRelaxed(copy.data(), plane.base + front * plane.cellBytes, plane.cellBytes);
    // The design carries no number to check against: the frame is torn when its words do not belong to one another.
    uint64_t first;
    std::memcpy(&first, copy.data(), 8);
    bool whole = true;
    for (uint64_t i = 1; i < plane.cellBytes / 8; i++) {
      uint64_t word;
      std::memcpy(&word, copy.data() + i * 8, 8);
      whole = whole && word - first == i * 0x94d049bb133111ebull;
    }
    outcome.frames++;
    outcome.reads++;
    if (!whole) outcome.torn++;
  }
}

// ---- the product's writer; with `free` it answers its own frames, like a learner that never keeps it waiting
void ringWriter(const Options& options, const Scene& scene, Outcome& outcome, bool free) {
  Dice dice{options.seed * 2 + 1};
  const Block& block = *scene.block;
  WriterArrays arrays(block.slots);
  Writer writer(block, kEpoch, noBounds(), arrays.view());
  for (uint32_t slot = 0; slot < block.slots; slot++) writer.activate(slot);
  uint32_t seen = 0;
  uint64_t written = 0;
  while (outcome.stop.load(std::memory_order_relaxed) == 0) {
    if (free) {
      for (uint32_t slot = 0; slot < block.slots; slot++) {
        block.readers[slot].answered.store(block.writers[slot].published.load(std::memory_order_relaxed), std::memory_order_relaxed);
      }
    }
    const uint32_t before = scene.workBell->word.load(std::memory_order_acquire);
    int retired = 0;
    const int claimed = writer.claim(1 + uint32_t(dice.roll(block.slots)), retired);
    CHECK(claimed >= 0);
    if (claimed == 0) {
      seen = before;
      waitBell(*scene.workBell, seen, 2'000'000);
      continue;
    }
    for (uint32_t slot = 0; slot < block.slots; slot++) {
      const SlotState state = writer.state(slot);
      if (state != SlotState::stepping && state != SlotState::resetting) continue;
      const uint64_t seq = writer.seq(slot) + 1;
      const Plane& plane = block.planes[0];
      fillWords(plane.base + arrays.cell[slot] * plane.cellBytes, 0, plane.cellBytes / 8, kEpoch, seq, slot);
      arrays.reward[slot] = double(seq);
      pace(options, dice, written++);
    }
    CHECK(writer.publish(Check::off) == claimed);
    outcome.written.store(written, std::memory_order_relaxed);
    ringBell(*scene.frameBell);
  }
}

void leaseReader(const Options& options, const Scene& scene, Outcome& outcome) {
  const Block& block = *scene.block;
  Dice dice{options.seed * 4 + 3};
  const uint32_t limit = block.slots;
  ReaderArrays arrays(limit, block.planes[0].cellBytes);
  auto reader = rawReader(scene, arrays, limit, 1);
  std::vector<uint64_t> last(block.slots, 0);
  std::vector<int32_t> actions(limit, 7);
  while (outcome.frames < options.frames && outcome.stop == 0) {
    const uint32_t before = scene.frameBell->word.load(std::memory_order_acquire);
    const uint32_t count = reader->collect(1 + uint32_t(dice.roll(limit)));
    if (count == 0) waitBell(*scene.frameBell, before, 2'000'000);
    for (uint32_t i = 0; i < count; i++) {
      const auto row = uint32_t(arrays.rowOf[i]);
      const auto seq = uint64_t(arrays.reward[i]);
      if (!wordsAre(arrays.rows.data() + i * block.planes[0].cellBytes, block.planes[0].cellBytes / 8, kEpoch, seq, row)) outcome.torn++;
      if (seq == last[row]) outcome.duplicates++;
      else if (seq != last[row] + 1) outcome.backwards++;
      last[row] = seq;
    }
    outcome.frames += count;
    outcome.reads += count;
    CHECK(count == 0 || reader->answer(count, arrays.rowOf.data(), reinterpret_cast<uint8_t*>(actions.data()), 4, kCommandStep) == -1);
  }
  outcome.torn += reader->torn;
  outcome.backwards += reader->outOfOrder;
}

template <bool Validate>
void peekReader(const Options& options, const Scene& scene, Outcome& outcome) {
  const Block& block = *scene.block;
  const Plane& plane = block.planes[0];
  std::vector<uint8_t> copy(plane.cellBytes);
  std::vector<uint64_t> last(block.slots, 0);
  uint64_t retries = 0;
  for (uint32_t slot = 0; outcome.frames < options.frames && outcome.stop == 0; slot = (slot + 1) % block.slots) {
    const uint64_t word = peekCell<Validate>(block, slot, plane, copy.data(), 8, retries);
    outcome.reads++;
    if (word == 0) continue;
    const uint64_t seq = seqOf(word);
    if (!wordsAre(copy.data(), plane.cellBytes / 8, epochOf(word), seq, slot)) outcome.torn++;
    if (seq < last[slot]) outcome.backwards++;
    if (seq > last[slot]) outcome.frames++;  // polling may meet a frame twice; only new ones count
    last[slot] = seq;
  }
  outcome.retries = retries;
}

void runWriter(const Options& options, int fd, Outcome& outcome) {
  const Scene scene = openScene(fd, options.shape);
  if (options.mode == "flip") flipWriter(options, scene, outcome);
  else ringWriter(options, scene, outcome, options.mode != "lease");
}

void runReader(const Options& options, int fd, Outcome& outcome) {
  const Scene scene = openScene(fd, options.shape);
  if (options.mode == "flip") flipReader(options, scene, outcome);
  else if (options.mode == "lease") leaseReader(options, scene, outcome);
  else if (options.mode == "peek") peekReader<true>(options, scene, outcome);
  else peekReader<false>(options, scene, outcome);
}

template <class Run>
pid_t spawn(Run run) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child > 0) return child;
  if (!dieWithParent(SIGKILL, parent)) _exit(9);
  run();
  _exit(0);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (key == "--mode") options.mode = value;
    else if (key == "--pace") options.pace = value;
    else if (key == "--cell-bytes") options.shape.cellBytes = number;
    else if (key == "--cells") options.shape.cells = uint32_t(number);
    else if (key == "--slots") options.shape.slots = uint32_t(number);
    else if (key == "--frames") options.frames = number;
    else if (key == "--seed") options.seed = number;
    else if (key == "--seconds") options.seconds = number;
    else if (key == "--pauses") options.pauses = number != 0;
    else {
      std::fprintf(stderr, "torn-frames: unknown option %s\n", argv[i]);
      std::exit(2);
    }
  }
  CHECK(options.shape.cellBytes >= 8 && options.shape.cellBytes % 8 == 0);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const int fd = makeObject(options.shape);
  auto* outcome = static_cast<Outcome*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(outcome != MAP_FAILED);
  const pid_t writer = spawn([&] { runWriter(options, fd, *outcome); });
  const pid_t reader = spawn([&] { runReader(options, fd, *outcome); });

  Dice dice{options.seed * 8 + 5};
  const uint64_t startNs = monotonicNs(), endNs = startNs + options.seconds * 1'000'000'000ull;
  uint64_t pauses = 0;
  int status = 0;
  while (waitpid(reader, &status, WNOHANG) == 0) {
    if (monotonicNs() > endNs) outcome->stop = 1;
    timespec time{0, long(200'000 + dice.roll(2'000'000))};
    nanosleep(&time, nullptr);
    if (!options.pauses) continue;
    const pid_t victim = dice.roll(2) == 0 ? writer : reader;
    kill(victim, SIGSTOP);
    time.tv_nsec = long(dice.roll(1'000'000));
    nanosleep(&time, nullptr);
    kill(victim, SIGCONT);
    pauses++;
  }
  outcome->stop = 1;
  kill(writer, SIGCONT);
  int writerStatus = 0;
  waitpid(writer, &writerStatus, 0);
  const auto get = [](const Word64& word) { return word.load(); };
  std::printf("{\"mode\":\"%s\",\"pace\":\"%s\",\"cellBytes\":%" PRIu64 ",\"cells\":%u,\"slots\":%u,\"frames\":%" PRIu64 ",\"written\":%" PRIu64
              ",\"reads\":%" PRIu64 ",\"torn\":%" PRIu64 ",\"backwards\":%" PRIu64 ",\"duplicates\":%" PRIu64 ",\"retries\":%" PRIu64
              ",\"pauses\":%" PRIu64 ",\"ms\":%" PRIu64 "}\n",
              options.mode.c_str(), options.pace.c_str(), options.shape.cellBytes, options.shape.cells, options.shape.slots,
              get(outcome->frames), get(outcome->written), get(outcome->reads), get(outcome->torn), get(outcome->backwards),
              get(outcome->duplicates), get(outcome->retries), pauses, (monotonicNs() - startNs) / 1'000'000);
  if (status != 0 || writerStatus != 0) return 1;
  if (get(outcome->torn) + get(outcome->backwards) + get(outcome->duplicates) != 0) return 3;
  return get(outcome->frames) < options.frames ? 4 : 0;
}
