// The arrays of one batch that belong to no output: which row each entry comes from, its reward and flags, and the episodes that ended in
// it. They belong to the caller; the reader fills them.
#pragma once
#include <cstring>
#include <vector>

#include "gather.h"

namespace envladder {

struct BatchRows {
  int32_t* rowOf;
  double* reward;
  uint8_t* flags;
  int32_t* episodeRow;
  double* episodeReturn;
  int32_t* episodeLength;
};

// Closes a gap: entry `from` takes the place of entry `to`, in the arrays and in every output.
inline void moveBatchRow(const BatchRows& rows, const std::vector<Output>& outputs, uint32_t to, uint32_t from) {
  rows.rowOf[to] = rows.rowOf[from];
  rows.reward[to] = rows.reward[from];
  rows.flags[to] = rows.flags[from];
  for (const Output& output : outputs) {
    std::memcpy(output.rows + to * output.rowBytes, output.rows + from * output.rowBytes, output.rowBytes);
    if (output.finals) std::memcpy(output.finals + to * output.rowBytes, output.finals + from * output.rowBytes, output.rowBytes);
  }
}

}  // namespace envladder
