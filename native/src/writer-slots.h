// What the writer remembers of each slot, privately: where it stands between constructor, lease and quarantine, and its newest frame.
#pragma once
#include <cstdint>

namespace envladder {

enum class SlotState : uint8_t {
  inactive,    // constructor not done
  waiting,     // its frame is with the reader (or it has none yet)
  stepping,    // leased for a step
  resetting,   // leased for a reset
  refused,     // leased, its frame broke the contract
  parked,      // its env failed and is being built again: passed over until unpark
  retiring,    // to be quarantined as soon as it is leased
  retired,     // quarantined
};

enum class Check : uint8_t { off = 0, sampled = 1, full = 2 };

struct WriterSlot {
  uint64_t word;  // P as this writer last stored or found it
  SlotState state;
  uint8_t flags;    // of the last frame
  bool fresh;       // no frame in this life of the env yet: the next one is a reset
  bool abandoned;   // fresh, and an earlier life had published
};

}  // namespace envladder
