// When each slot's next step is meant to be let go, for a reader that answers at a set rate instead of as fast as it can. Every slot has its
// own clock that ticks once a period, whatever happened to the step before: so a late step makes the next ones late, and none is forgotten.
#pragma once
#include <cstdint>
#include <queue>
#include <vector>

#include "histogram.h"

namespace envladder {

class Pace {
 public:
  struct Held {
    uint64_t dueNs;
    uint32_t row;
    bool operator>(const Held& other) const { return dueNs > other.dueNs; }
  };

  // From the intended time of a step to its frame published.
  Histogram response;
  // From the intended time of a step whose action was there in time to when it was let go: the reader's own lateness.
  Histogram lag;

  explicit Pace(uint64_t periodNs) : periodNs_(periodNs) {}

  bool on() const { return periodNs_ != 0; }

  // Intended time of the step after the one meant for `lastNs` (0: the row's first). First steps are spread over a period, so that not all
  // slots tick together: the fraction is that of row times the golden ratio, which fills a period evenly for any number of rows.
  uint64_t next(uint64_t lastNs, uint64_t nowNs, uint32_t row) const {
    if (lastNs != 0) return lastNs + periodNs_;
    const uint64_t fraction = uint64_t(row) * 0x9E3779B97F4A7C15ull;  // 2^64 / golden ratio
    return nowNs + uint64_t((static_cast<unsigned __int128>(fraction) * periodNs_) >> 64);
  }

  void hold(uint64_t dueNs, uint32_t row) { held_.push({dueNs, row}); }
  bool isDue(uint64_t nowNs) const { return !held_.empty() && held_.top().dueNs <= nowNs; }
  Held take() {
    const Held first = held_.top();
    held_.pop();
    return first;
  }
  // 0: nothing is held.
  uint64_t nextNs() const { return held_.empty() ? 0 : held_.top().dueNs; }

 private:
  const uint64_t periodNs_;
  std::priority_queue<Held, std::vector<Held>, std::greater<Held>> held_;
};

}  // namespace envladder
