// A doorbell between processes: a counter that rises with every ring, and a flag that says someone may be asleep. Ringing costs one
// atomic add and enters the kernel only when a sleeper is possible; waiting spins briefly, then sleeps on a shared futex with a bound.
// The flag is cleared by whoever rings, so a waiter that was killed in its sleep costs one superfluous wake and nothing more.
#pragma once
#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "shared.h"

namespace envladder {

// Longer than one hand-over between running cores (about 1 us here), shorter than a futex sleep and wake (about 10 us to 50 us).
constexpr uint64_t kSpinNs = 10'000;

inline void pauseCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// SYNC: the add is seq_cst and comes before the load of `sleeping`; the waiter stores `sleeping` (seq_cst) before it looks at `word`.
// One of the two must see the other, so no ring is lost.
inline void ringBell(BellLine& bell) {
  bell.word.fetch_add(1, std::memory_order_seq_cst);
  if (bell.sleeping.load(std::memory_order_seq_cst) != 0 && bell.sleeping.exchange(0, std::memory_order_seq_cst) != 0) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell.word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

// Waits until the bell's counter differs from `seen` or `timeoutNs` passed; returns the counter. `seen` must have been read before
// the caller last looked for work, otherwise a ring in between is slept over.
inline uint32_t waitBell(BellLine& bell, uint32_t seen, uint64_t timeoutNs, uint64_t spinNs = kSpinNs) {
  // SYNC: every acquire load of `word` here pairs with the add in ringBell: what was published or answered before the ring is visible.
  uint32_t now = bell.word.load(std::memory_order_acquire);
  if (now != seen || timeoutNs == 0) return now;
  const uint64_t startNs = monotonicNs();
  const uint64_t spinEndNs = startNs + (spinNs < timeoutNs ? spinNs : timeoutNs);
  do {
    for (int i = 0; i < 16; i++) {
      pauseCore();
      now = bell.word.load(std::memory_order_acquire);
      if (now != seen) return now;
    }
  } while (monotonicNs() < spinEndNs);
  for (;;) {
    const uint64_t elapsedNs = monotonicNs() - startNs;
    if (elapsedNs >= timeoutNs) return bell.word.load(std::memory_order_acquire);
    const uint64_t leftNs = timeoutNs - elapsedNs;
    timespec left{time_t(leftNs / 1'000'000'000ull), long(leftNs % 1'000'000'000ull)};
    bell.sleeping.store(1, std::memory_order_seq_cst);  // SYNC: pairs with ringBell
    now = bell.word.load(std::memory_order_seq_cst);
    if (now != seen) return now;
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell.word), FUTEX_WAIT, seen, &left, nullptr, 0);
    now = bell.word.load(std::memory_order_acquire);
    if (now != seen) return now;
  }
}

}  // namespace envladder
