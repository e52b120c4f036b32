// Two threads on one page: one stores an 8-byte word over and over, the other loads it and counts values that were never stored; then each adds to
// a flag of its own. Plain machine loads and stores, so that only the places of word and flags decide. For `envladder claims` alone.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>

#include "clock.h"

namespace envladder {

constexpr size_t kDuelPageBytes = 4096;

// A word that may lie anywhere. Volatile accesses of it are one machine load or store each: that is what the duel is about. It is a data race on
// purpose, and the reason why this type is used nowhere else.
typedef uint64_t AnyWord __attribute__((may_alias, aligned(1)));

struct DuelReport {
  uint64_t reads = 0;
  uint64_t torn = 0;
  uint64_t changes = 0;  // loads whose value differs from the one before
  uint64_t adds = 0;     // of both threads
  double addSeconds = 0;
};

// Low and high halves of the two values differ, so that any mix of them is a third.
constexpr uint64_t kEvenWord = 0x1111111122222222ull, kOddWord = 0x3333333344444444ull;

// Pins the calling thread to the n-th core that the process may use, so that the two never take turns on one. False when there is none.
inline bool pinToCore(const cpu_set_t& allowed, int n) {
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
  }
  return false;
}

inline void meetTwo(std::atomic<int>& gate) {
  gate.fetch_add(1);
  while (gate.load() < 2) std::this_thread::yield();
}

// Offsets are within a page; a word needs 8 bytes there, a flag 4 at a multiple of 4. False without memory.
inline bool duelOverWord(size_t wordOffset, size_t flagA, size_t flagB, uint64_t ms, DuelReport& report) {
  const std::unique_ptr<uint8_t, decltype(&std::free)> page(static_cast<uint8_t*>(std::aligned_alloc(kDuelPageBytes, kDuelPageBytes)), std::free);
  if (!page) return false;
  std::memset(page.get(), 0, kDuelPageBytes);
  auto* word = reinterpret_cast<volatile AnyWord*>(page.get() + wordOffset);
  *word = kEvenWord;
  std::atomic<int> first{0}, second{0};
  const uint64_t spanNs = ms * 1'000'000ull;
  constexpr int burst = 1024;  // accesses between two looks at the clock
  uint64_t adds[2] = {0, 0};
  const auto addToFlag = [&](size_t offset, uint64_t& count) {
    auto& flag = *reinterpret_cast<std::atomic<uint32_t>*>(page.get() + offset);
    const uint64_t began = monotonicNs();
    while (monotonicNs() - began < spanNs) {
      for (int i = 0; i < burst; i++) flag.fetch_add(1, std::memory_order_relaxed);
      count += burst;
    }
    return double(monotonicNs() - began) / 1e9;
  };
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::thread writer([&] {
    pinToCore(allowed, 0);
    meetTwo(first);
    for (const uint64_t began = monotonicNs(); monotonicNs() - began < spanNs;) {
      for (int i = 0; i < burst; i++) {
        *word = kOddWord;
        *word = kEvenWord;
      }
    }
    meetTwo(second);
    addToFlag(flagA, adds[0]);
  });
  // A thread of its own: the caller's place in the machine stays as it is.
  std::thread reader([&] {
    pinToCore(allowed, 1);
    meetTwo(first);
    uint64_t last = kEvenWord;
    for (const uint64_t began = monotonicNs(); monotonicNs() - began < spanNs;) {
      for (int i = 0; i < burst; i++) {
        const uint64_t value = *word;
        if (value != last) report.changes++;
        if (value != kEvenWord && value != kOddWord) report.torn++;
        last = value;
      }
      report.reads += burst;
    }
    meetTwo(second);
    report.addSeconds = addToFlag(flagB, adds[1]);
  });
  reader.join();
  writer.join();
  report.adds = adds[0] + adds[1];
  return true;
}

}  // namespace envladder
