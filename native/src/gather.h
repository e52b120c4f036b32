// From cells to batch rows: for each output of the reader, copy or convert the picked cells into the caller's matrices. The one place
// where observation bytes are copied on the way to the learner; it counts what it writes.
#pragma once
#include <vector>

#include "block.h"
#include "convert.h"

namespace envladder {

enum class Transform : uint8_t { raw = 0, floats = 1, pool = 2 };

// How one key of a block becomes a stretch of one output's row.
struct Part {
  uint32_t output;
  Transform transform;
  float scale, offset;
  uint64_t byteOffset;  // inside the row
  uint64_t bytes;       // written per row
  uint32_t height, width, channels;  // pool only
};

struct Output {
  uint8_t* rows;
  uint8_t* finals;
  uint64_t rowBytes;
};

struct Pick {
  uint32_t slot;
  uint32_t cell;
};

// `source` is the first cell's address given slot and cell; planes and finals share everything else.
template <class Source>
void gatherPart(const Part& part, const Plane& plane, const Pick* picks, uint32_t count, uint8_t* to, uint64_t rowBytes, Source source) {
  to += part.byteOffset;
  const auto each = [&](auto&& copy) {
    for (uint32_t i = 0; i < count; i++, to += rowBytes) copy(source(picks[i]), to);
  };
  if (part.transform == Transform::raw) {
    each([&](const uint8_t* cell, uint8_t* row) { std::memcpy(row, cell, plane.cellBytes); });
  } else if (part.transform == Transform::pool) {
    thread_local std::vector<uint16_t> sums;
    each([&](const uint8_t* cell, uint8_t* row) {
      pool14(cell, reinterpret_cast<float*>(row), part.height, part.width, part.channels, part.scale, part.offset, sums);
    });
  } else {
    const auto convert = [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      each([&](const uint8_t* cell, uint8_t* row) {
        toFloat(reinterpret_cast<const T*>(cell), reinterpret_cast<float*>(row), plane.elements, part.scale, part.offset);
      });
    };
    switch (plane.dtype) {
      case Dtype::u8: convert(static_cast<uint8_t*>(nullptr)); break;
      case Dtype::i32: convert(static_cast<int32_t*>(nullptr)); break;
      case Dtype::f32: convert(static_cast<float*>(nullptr)); break;
      case Dtype::f64: convert(static_cast<double*>(nullptr)); break;
    }
  }
}

// Gathers picks into rows firstRow.. of every output. `planeOf[i]` is the plane that part i reads in this block. Returns bytes written.
inline uint64_t gatherRows(const Block& block, const std::vector<Part>& parts, const std::vector<uint32_t>& planeOf,
                           const std::vector<Output>& outputs, const Pick* picks, uint32_t count, uint32_t firstRow, bool finals) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < parts.size(); i++) {
    const Plane& plane = block.planes[planeOf[i]];
    const Output& output = outputs[parts[i].output];
    uint8_t* to = (finals ? output.finals : output.rows) + uint64_t(firstRow) * output.rowBytes;
    const uint8_t* base = finals ? plane.finals : plane.base;
    gatherPart(parts[i], plane, picks, count, to, output.rowBytes, [&](const Pick& pick) {
      return base + (uint64_t(pick.slot) * block.cells + pick.cell) * plane.cellBytes;
    });
    bytes += parts[i].bytes * count;
  }
  return bytes;
}

}  // namespace envladder
