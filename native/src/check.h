// The contract check on what an environment wrote: finite and inside its bounds. Run by the writer before a frame becomes visible;
// costs one vectorisable pass over the cell, and nothing for keys whose type cannot break their bounds.
#pragma once
#include <cmath>
#include <limits>

#include "block.h"

namespace envladder {

// Bounds of one key in its own dtype (f32 bounds are rounded to f32, as the observation was). One entry when uniform.
struct KeyBounds {
  std::vector<double> low, high;
  bool needed = true;
};

struct Breach {
  uint32_t slot;
  int32_t plane;  // -1: the reward
  uint64_t element;
  double value;
  bool finite;  // the value is finite, so the rule broken is the bounds
};

// Index of the first element outside [low, high] or not finite; -1 when all is well.
template <class T>
int64_t firstBreach(const T* cell, uint64_t elements, const KeyBounds& bounds) {
  const auto limit = [](double bound) {
    if constexpr (std::numeric_limits<T>::is_integer) {
      return bound;  // compared as double: exact for u8 and i32
    } else {
      // Infinite bounds mean "any finite value": the comparison with the largest finite one refuses infinities, NaN fails every comparison.
      const T largest = std::numeric_limits<T>::max();
      const T rounded = T(bound);
      return rounded > largest ? largest : rounded < -largest ? -largest : rounded;
    }
  };
  if (bounds.low.size() == 1 && bounds.high.size() == 1) {
    const auto low = limit(bounds.low[0]), high = limit(bounds.high[0]);
    unsigned bad = 0;
    for (uint64_t i = 0; i < elements; i++) bad |= unsigned(!(cell[i] >= low)) | unsigned(!(cell[i] <= high));
    if (bad == 0) return -1;
  }
  for (uint64_t i = 0; i < elements; i++) {
    const auto low = limit(bounds.low[bounds.low.size() == 1 ? 0 : i]);
    const auto high = limit(bounds.high[bounds.high.size() == 1 ? 0 : i]);
    if (!(cell[i] >= low) || !(cell[i] <= high)) return int64_t(i);
  }
  return -1;
}

// Checks one cell; on a breach fills element, value and rule.
inline bool cellBreaks(const Plane& plane, const KeyBounds& bounds, const uint8_t* cell, Breach& breach) {
  int64_t at = -1;
  double value = 0;
  const auto look = [&](auto* typed) {
    at = firstBreach(typed, plane.elements, bounds);
    if (at >= 0) value = double(typed[at]);
  };
  switch (plane.dtype) {
    case Dtype::u8: look(cell); break;
    case Dtype::i32: look(reinterpret_cast<const int32_t*>(cell)); break;
    case Dtype::f32: look(reinterpret_cast<const float*>(cell)); break;
    case Dtype::f64: look(reinterpret_cast<const double*>(cell)); break;
  }
  if (at < 0) return false;
  breach.element = uint64_t(at);
  breach.value = value;
  breach.finite = std::isfinite(value);
  return true;
}

}  // namespace envladder
