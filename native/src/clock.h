// Monotonic time in nanoseconds: one clock for every process of the machine, so that stamps can be subtracted across processes.
#pragma once
#include <cstdint>
#include <ctime>

namespace envladder {

inline uint64_t monotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000ull + uint64_t(now.tv_nsec);
}

}  // namespace envladder
