// Latencies in log-linear buckets: 128 per octave from 256 ns up (error below 0.8 %), exact below; one hour and more falls into the
// last. Written by the reader for every frame, so recording is a shift and an add; merged by adding counts.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace envladder {

struct Histogram {
  static constexpr unsigned kSubBits = 7;
  static constexpr uint64_t kMaxNs = (1ull << 42) - 1;  // 73 minutes
  static constexpr unsigned kBuckets = ((42 - kSubBits - 1) << kSubBits) + (2u << kSubBits);
  std::array<uint64_t, kBuckets> counts{};
  uint64_t maxNs = 0;

  void record(uint64_t ns) {
    if (ns > maxNs) maxNs = ns;
    counts[bucketOf(ns > kMaxNs ? kMaxNs : ns)]++;
  }
  static unsigned bucketOf(uint64_t ns) {
    const unsigned shift = ns < (2u << kSubBits) ? 0 : unsigned(std::bit_width(ns)) - 1 - kSubBits;
    return (shift << kSubBits) + unsigned(ns >> shift);
  }
  static double midpointNs(unsigned bucket) {
    if (bucket < (2u << kSubBits)) return bucket;
    const unsigned shift = (bucket >> kSubBits) - 1;
    const uint64_t low = uint64_t(bucket - (shift << kSubBits)) << shift;
    return double(low) + double((1ull << shift) - 1) / 2;
  }
  void clear() {
    counts.fill(0);
    maxNs = 0;
  }
};

}  // namespace envladder
