// Native parts on their own, and writer, reader, peek, scan and fence as threads of one process: what the sanitizers can look into.
// `unit NAME` runs one case, without a name all of them. Ends with the number of cases passed.
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "peek.h"
#include "scene.h"

using namespace envladder;
using namespace envladder::test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kFrames = 20'000;
#else
constexpr uint64_t kFrames = 200'000;
#endif

// Goal: a recorded latency is off by less than 1 % whatever its size, and no value falls outside the buckets.
void histogramKeepsTwoDigits() {
  Dice dice{7};
  for (int i = 0; i < 200'000; i++) {
    const uint64_t ns = 1 + dice.roll(1ull << (1 + dice.roll(41)));
    const unsigned bucket = Histogram::bucketOf(ns);
    CHECK(bucket < Histogram::kBuckets);
    CHECK(std::abs(Histogram::midpointNs(bucket) - double(ns)) <= double(ns) * 0.01);
  }
  CHECK(Histogram::bucketOf(Histogram::kMaxNs) == Histogram::kBuckets - 1);
  auto histogram = std::make_unique<Histogram>();
  histogram->record(~0ull);
  CHECK(histogram->counts[Histogram::kBuckets - 1] == 1);
}

// Goal: pooling equals the mean of each tile computed the slow way, for images of several sizes.
void poolingEqualsTheMean() {
  Dice dice{11};
  for (const auto [height, width, channels] : {std::array{14u, 14u, 1u}, {28u, 42u, 3u}, {224u, 224u, 3u}, {14u * 257u, 14u, 1u}}) {
    std::vector<uint8_t> image(height * width * channels);
    for (auto& pixel : image) pixel = uint8_t(dice.roll(256));
    std::fill(image.begin(), image.begin() + width * channels * (height / 14), uint8_t(255));  // the largest sums a tile can have
    std::vector<float> pooled(14 * 14 * channels);
    std::vector<uint16_t> sums;
    pool14(image.data(), pooled.data(), height, width, channels, 0.5f, -3.0f, sums);
    for (uint32_t ty = 0; ty < 14; ty++) {
      for (uint32_t tx = 0; tx < 14; tx++) {
        for (uint32_t c = 0; c < channels; c++) {
          double sum = 0;
          for (uint32_t y = ty * height / 14; y < (ty + 1) * height / 14; y++) {
            for (uint32_t x = tx * width / 14; x < (tx + 1) * width / 14; x++) sum += image[(y * width + x) * channels + c];
          }
          const double mean = sum / (double(height / 14) * double(width / 14));
          CHECK(std::abs(pooled[(ty * 14 + tx) * channels + c] - (mean * 0.5 - 3.0)) < 1e-3);
        }
      }
    }
  }
}

// Goal: the check finds NaN, infinities and values outside the bounds at the right element, and nothing else.
void checkFindsTheFirstBreach() {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<float> cell(100, 0.5f);
  const KeyBounds open{{-inf}, {inf}, true}, unit{{-1}, {1}, true};
  CHECK(firstBreach(cell.data(), 100, open) == -1 && firstBreach(cell.data(), 100, unit) == -1);
  for (const float bad : {std::nanf(""), float(inf), float(-inf)}) {
    cell[37] = bad;
    CHECK(firstBreach(cell.data(), 100, open) == 37 && firstBreach(cell.data(), 100, unit) == 37);
  }
  cell[37] = 3e38f;
  CHECK(firstBreach(cell.data(), 100, open) == -1 && firstBreach(cell.data(), 100, unit) == 37);
  KeyBounds each{std::vector<double>(100, 0), std::vector<double>(100, 1), true};
  cell[37] = 0.5f;
  each.high[99] = 0.25;
  CHECK(firstBreach(cell.data(), 100, each) == 99);
  // A bound that f32 cannot hold is rounded as the observation was: 4.8 as f32 is above 4.8.
  const float rounded = 4.8f;
  CHECK(firstBreach(&rounded, 1, KeyBounds{{-4.8}, {4.8}, true}) == -1);
  const std::vector<int32_t> whole{3, -1};
  CHECK(firstBreach(whole.data(), 2, KeyBounds{{0}, {5}, true}) == 1);
}

// Goal: no ring is lost: two threads that only answer each other's rings never run into the time-out.
void bellsLoseNoRing() {
  BellLine there{}, back{};
  const uint64_t rounds = kFrames / 10;
  std::thread other([&] {
    for (uint32_t i = 0; i < rounds; i++) {
      CHECK(waitBell(there, i, 5'000'000'000ull, i % 2 == 0 ? 0 : 2'000) == i + 1);
      ringBell(back);
    }
  });
  for (uint32_t i = 0; i < rounds; i++) {
    ringBell(there);
    CHECK(waitBell(back, i, 5'000'000'000ull, i % 3 == 0 ? 0 : 2'000) == i + 1);
  }
  other.join();
  CHECK(waitBell(there, uint32_t(rounds), 1'000'000) == rounds);
}

// Goal: every index is worked on exactly once, also when rounds follow one another at once.
void threadPoolCoversEveryIndex() {
  ThreadPool pool(3);
  for (uint32_t count : {0u, 1u, 2u, 1000u}) {
    for (int round = 0; round < 200; round++) {
      std::vector<std::atomic<uint32_t>> hits(count);
      pool.forEach(count, [&](uint32_t i) { hits[i].fetch_add(1, std::memory_order_relaxed); });
      for (auto& hit : hits) CHECK(hit.load(std::memory_order_relaxed) == 1);
    }
  }
}

void publishRounds(const Block& block, Writer& writer, WriterArrays& arrays, BellLine& workBell, BellLine& frameBell, const Word32& stop,
                   bool bells) {
  const Plane& plane = block.planes[0];
  while (stop.load(std::memory_order_relaxed) == 0) {
    const uint32_t seen = bells ? workBell.word.load(std::memory_order_acquire) : 0;
    int retired = 0;
    if (writer.claim(block.slots, retired) == 0) {
      if (bells) waitBell(workBell, seen, 1'000'000);
      else std::this_thread::yield();
      continue;
    }
    for (uint32_t slot = 0; slot < block.slots; slot++) {
      if (writer.state(slot) != SlotState::stepping && writer.state(slot) != SlotState::resetting) continue;
      const uint64_t seq = writer.seq(slot) + 1;
      // The action answers the frame before: its content proves that action and answer travel together.
      int32_t action;
      std::memcpy(&action, block.action(slot), 4);
      CHECK(uint64_t(action) == seq - 1);
      fillWords(plane.base + arrays.cell[slot] * plane.cellBytes, 0, plane.cellBytes / 8, 1, seq, slot);
      arrays.reward[slot] = double(seq);
    }
    if (writer.publish(Check::off) == Writer::kFenced) return;
    if (bells) ringBell(frameBell);
  }
}

// Goal: with a lease, frames arrive whole, in order, once, with their rewards, while others peek and scan. Without bells the slot words
// alone must carry the order: a ring would hide from the sanitizer that one of them does not. (A reader still rings after answering, but
// then nobody waits for it.)
void leaseIsExclusive(uint32_t cells, uint64_t cellBytes, unsigned threads, uint64_t frames, bool bells) {
  Shape shape;
  shape.slots = 8;
  shape.cells = cells;
  shape.cellBytes = cellBytes;
  const int fd = makeObject(shape);
  const Scene scene = openScene(fd, shape);
  const Block& block = *scene.block;
  Word32 stop{0};
  std::thread worker([&] {
    WriterArrays arrays(shape.slots);
    Writer writer(block, 1, noBounds(), arrays.view());
    for (uint32_t slot = 0; slot < shape.slots; slot++) writer.activate(slot);
    publishRounds(block, writer, arrays, *scene.workBell, *scene.frameBell, stop, bells);
  });
  std::thread onlooker([&] {
    std::vector<uint8_t> copy(cellBytes);
    std::vector<uint64_t> last(shape.slots, 0);
    uint64_t torn = 0, published = 0;
    while (stop.load(std::memory_order_relaxed) == 0) {
      for (uint32_t slot = 0; slot < shape.slots; slot++) {
        const uint64_t word = peekCell(block, slot, block.planes[0], copy.data(), 8, torn);
        if (word == 0) continue;
        CHECK(wordsAre(copy.data(), cellBytes / 8, 1, seqOf(word), slot));
        CHECK(seqOf(word) >= last[slot]);
        last[slot] = seqOf(word);
      }
      const Scan scan = scanBlock(block);
      CHECK(scan.published >= published && scan.live <= shape.slots && scan.quarantined == 0);
      published = scan.published;
    }
  });
  ReaderArrays arrays(shape.slots, cellBytes);
  auto reader = rawReader(scene, arrays, shape.slots, threads);
  std::vector<uint64_t> last(shape.slots, 0);
  std::vector<int32_t> actions(shape.slots);
  for (uint64_t taken = 0; taken < frames;) {
    const uint32_t seen = bells ? scene.frameBell->word.load(std::memory_order_acquire) : 0;
    const uint32_t count = reader->collect(shape.slots);
    if (count == 0 && bells) waitBell(*scene.frameBell, seen, 1'000'000);
    if (count == 0 && !bells) std::this_thread::yield();
    for (uint32_t i = 0; i < count; i++) {
      const auto row = uint32_t(arrays.rowOf[i]);
      CHECK(uint64_t(arrays.reward[i]) == last[row] + 1);
      last[row]++;
      CHECK(wordsAre(arrays.rows.data() + i * cellBytes, cellBytes / 8, 1, last[row], row));
      actions[i] = int32_t(last[row]);
    }
    CHECK(reader->answer(count, arrays.rowOf.data(), reinterpret_cast<uint8_t*>(actions.data()), 4, kCommandStep) == -1);
    taken += count;
  }
  stop = 1;
  ringBell(*scene.workBell);
  worker.join();
  onlooker.join();
  CHECK(reader->torn == 0 && reader->outOfOrder == 0);
  close(fd);
}

// Goal: after a fence nothing of the older epoch appears, however the fence falls into its publishing.
void fenceStopsTheOldEpoch() {
  Shape shape;
  shape.slots = 64;
  for (int round = 0; round < 50; round++) {
    const int fd = makeObject(shape);
    const Scene scene = openScene(fd, shape);
    const Block& block = *scene.block;
    Word32 stop{0}, running{0};
    std::thread worker([&] {
      WriterArrays arrays(shape.slots);
      Writer writer(block, 1, noBounds(), arrays.view());
      for (uint32_t slot = 0; slot < shape.slots; slot++) writer.activate(slot);
      for (;;) {
        for (uint32_t slot = 0; slot < shape.slots; slot++) {
          block.readers[slot].answered.store(block.writers[slot].published.load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        int retired = 0;
        writer.claim(shape.slots, retired);
        if (writer.publish(Check::off) == Writer::kFenced) return;
        running = 1;
      }
    });
    while (running == 0) pauseCore();
    CHECK(fenceBlock(block, 2));
    std::vector<uint64_t> words;
    for (uint32_t slot = 0; slot < shape.slots; slot++) words.push_back(block.writers[slot].published.load());
    worker.join();
    for (uint32_t slot = 0; slot < shape.slots; slot++) {
      CHECK(epochOf(words[slot]) == 2 && block.writers[slot].published.load() == words[slot]);
    }
    CHECK(!fenceBlock(block, 1));
    close(fd);
  }
}

// Goal: a retired slot stays retired for every later writer, even if some reader answered its last frame.
void retiredStaysRetired() {
  Shape shape;
  const int fd = makeObject(shape);
  const Scene scene = openScene(fd, shape);
  const Block& block = *scene.block;
  WriterArrays arrays(1);
  CHECK(Writer(block, 1, noBounds(), arrays.view()).quarantine(0) == 1);
  block.readers[0].answered = block.writers[0].published.load();
  Writer later(block, 2, noBounds(), arrays.view());
  later.activate(0);
  int retired = 0;
  CHECK(later.claim(1, retired) == 0 && retired == 0 && later.quarantine(0) == 0);
  CHECK(scanBlock(block).published == 1 && scanBlock(block).quarantined == 1);
  close(fd);
}

// Goal: an object can be neither shrunk nor grown after creation, so a mapped page cannot vanish under a reader.
void objectIsSealed() {
  const int fd = createObject("envladder-test", 8192);
  CHECK(fd >= 0);
  CHECK(ftruncate(fd, 4096) != 0 && ftruncate(fd, 16384) != 0);
  close(fd);
}

const std::vector<std::pair<const char*, void (*)()>> kCases = {
    {"histogram", histogramKeepsTwoDigits},
    {"pool", poolingEqualsTheMean},
    {"check", checkFindsTheFirstBreach},
    {"bell", bellsLoseNoRing},
    {"threads", threadPoolCoversEveryIndex},
    {"lease-small", [] { leaseIsExclusive(2, 8, 1, kFrames, true); }},
    {"lease-ring", [] { leaseIsExclusive(5, 64, 1, kFrames, true); }},
    {"lease-odd", [] { leaseIsExclusive(3, 4096, 1, kFrames / 4, true); }},
    {"lease-large", [] { leaseIsExclusive(2, 32768, 2, kFrames / 20, true); }},
    {"lease-words", [] { leaseIsExclusive(2, 64, 1, kFrames / 4, false); }},
    {"lease-words-ring", [] { leaseIsExclusive(4, 512, 1, kFrames / 4, false); }},
    {"fence", fenceStopsTheOldEpoch},
    {"retired", retiredStaysRetired},
    {"seal", objectIsSealed},
};

}  // namespace

int main(int argc, char** argv) {
  int passed = 0;
  for (const auto& [name, run] : kCases) {
    if (argc > 1 && std::string(argv[1]) != name) continue;
    run();
    std::fprintf(stderr, "ok %s\n", name);
    passed++;
  }
  std::printf("{\"passed\":%d}\n", passed);
  return passed == 0 ? 2 : 0;
}
