// A block in shared memory for the native tests, laid out as harness/memory/layout.ts does it, with one plane of bytes; and the words
// that fill it: each a function of (epoch, seq, slot, index), so that a single foreign word betrays a torn frame.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "reader.h"
#include "writer.h"

namespace envladder::test {

#define CHECK(what)                                                              \
  do {                                                                           \
    if (!(what)) {                                                               \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);     \
      std::abort();                                                              \
    }                                                                            \
  } while (0)

struct Shape {
  uint32_t slots = 1, cells = 2;
  uint64_t cellBytes = 64;
  uint32_t actionBytes = 4;
  Autoreset autoreset = Autoreset::disabled;
};

inline uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

struct Places {
  uint64_t readers, records, recordStride, actions, actionStride, control, plane, total;
};

inline Places placesOf(const Shape& shape) {
  Places at{};
  at.readers = shape.slots * 64ull;
  uint64_t end = at.readers + shape.slots * 64ull;
  const bool inlineRecords = shape.cells <= 2;
  at.records = inlineRecords ? 16 : end;
  at.recordStride = inlineRecords ? 64 : roundUp(shape.cells * 16ull, 64);
  if (!inlineRecords) end += shape.slots * at.recordStride;
  const bool inlineAction = shape.actionBytes <= 32;
  at.actions = inlineAction ? at.readers + 32 : end;
  at.actionStride = inlineAction ? 64 : roundUp(shape.actionBytes, 64);
  if (!inlineAction) end += shape.slots * at.actionStride;
  at.control = 4096 + roundUp(end, 4096);  // one page for bells in front
  at.plane = roundUp(shape.slots * shape.cells * shape.cellBytes, 4096);
  at.total = at.control + at.plane * (shape.autoreset == Autoreset::sameStep ? 2 : 1);
  return at;
}

// Creates and backs the object. Ends the process when there is no memory: a test without it proves nothing.
inline int makeObject(const Shape& shape) {
  const Places at = placesOf(shape);
  const int fd = createObject("envladder-test", at.total);
  CHECK(fd >= 0);
  CHECK(allocateRange(fd, 0, at.total, 2) == 0);
  return fd;
}

struct Scene {
  std::shared_ptr<Block> block = std::make_shared<Block>();
  BellLine* workBell = nullptr;
  BellLine* frameBell = nullptr;
};

// Maps the object into this process, at whatever address the kernel likes.
inline Scene openScene(int fd, const Shape& shape) {
  const Places at = placesOf(shape);
  auto mapping = mapRange(fd, 0, at.total);
  CHECK(mapping != nullptr);
  Scene scene;
  scene.workBell = reinterpret_cast<BellLine*>(mapping->base);
  scene.frameBell = reinterpret_cast<BellLine*>(mapping->base + 64);
  uint8_t* control = mapping->base + 4096;
  Block& block = *scene.block;
  block.slots = shape.slots;
  block.cells = shape.cells;
  block.autoreset = shape.autoreset;
  block.actionBytes = shape.actionBytes;
  block.recordStride = at.recordStride;
  block.actionStride = at.actionStride;
  block.writers = reinterpret_cast<WriterLine*>(control);
  block.readers = reinterpret_cast<ReaderLine*>(control + at.readers);
  block.records = control + at.records;
  block.actions = control + at.actions;
  Plane plane;
  plane.base = mapping->base + at.control;
  plane.finals = shape.autoreset == Autoreset::sameStep ? plane.base + at.plane : nullptr;
  plane.elements = plane.cellBytes = shape.cellBytes;
  block.planes.push_back(plane);
  block.keep.push_back(std::move(mapping));
  return scene;
}

inline uint64_t wordOf(uint64_t epoch, uint64_t seq, uint64_t slot, uint64_t index) {
  uint64_t mixed = (slotWord(epoch, seq) + slot * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  mixed ^= mixed >> 29;
  return mixed + index * 0x94d049bb133111ebull;
}

// Relaxed atomic stores, because readers without a lease may look at the same time; the compiler makes plain moves of them.
inline void fillWords(uint8_t* cell, uint64_t from, uint64_t to, uint64_t epoch, uint64_t seq, uint64_t slot) {
  for (uint64_t i = from; i < to; i++) reinterpret_cast<Word64*>(cell)[i].store(wordOf(epoch, seq, slot, i), std::memory_order_relaxed);
}

inline bool wordsAre(const uint8_t* cell, uint64_t words, uint64_t epoch, uint64_t seq, uint64_t slot) {
  uint64_t wrong = 0;
  const uint64_t first = wordOf(epoch, seq, slot, 0);
  for (uint64_t i = 0; i < words; i++) {
    uint64_t word;
    std::memcpy(&word, cell + i * 8, 8);
    wrong |= word ^ (first + i * 0x94d049bb133111ebull);
  }
  return wrong == 0;
}

// The arrays that JavaScript would own.
struct WriterArrays {
  std::vector<uint32_t> cell;
  std::vector<double> reward;
  std::vector<uint8_t> flags;
  std::vector<int32_t> runs, resets;
  explicit WriterArrays(uint32_t slots) : cell(slots), reward(slots), flags(slots), runs(2 * slots), resets(slots) {}
  Writer::Arrays view() { return {cell.data(), reward.data(), flags.data(), runs.data(), resets.data()}; }
};

inline std::vector<KeyBounds> noBounds() { return {KeyBounds{{0}, {255}, false}}; }

struct ReaderArrays {
  std::vector<int32_t> rowOf, episodeRow, episodeLength;
  std::vector<double> reward, episodeReturn;
  std::vector<uint8_t> flags, rows, finals;
  ReaderArrays(uint32_t limit, uint64_t rowBytes)
      : rowOf(limit), episodeRow(limit), episodeLength(limit), reward(limit), episodeReturn(limit), flags(limit), rows(limit * rowBytes),
        finals(limit * rowBytes) {}
  Reader::Arrays view() {
    return {rowOf.data(), reward.data(), flags.data(), episodeRow.data(), episodeReturn.data(), episodeLength.data()};
  }
};

inline std::unique_ptr<Reader> rawReader(const Scene& scene, ReaderArrays& arrays, uint32_t limit, unsigned threads) {
  const uint64_t bytes = scene.block->planes[0].cellBytes;
  auto reader = std::make_unique<Reader>(limit, threads, std::vector<Part>{{0, Transform::raw, 1, 0, 0, bytes, 0, 0, 0}},
                                         std::vector<Output>{{arrays.rows.data(), arrays.finals.data(), bytes}}, arrays.view());
  reader->add(scene.block, scene.workBell, {0});
  return reader;
}

// xorshift: enough to vary pauses and paces, reproducible from a seed.
struct Dice {
  uint64_t state;
  uint64_t roll(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
  }
};

}  // namespace envladder::test
