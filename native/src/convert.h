// Turning cells into matrix columns: copy, convert to float, average-pool images. Pure loops over plain memory, written so that the
// compiler vectorises them for the baseline instruction set.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace envladder {

// Pooled images are 14 x 14 whatever their size: 224 = 14 * 16, the account's frame.
constexpr uint32_t kPooled = 14;

template <class T>
inline void toFloat(const T* __restrict from, float* __restrict to, uint64_t elements, float scale, float offset) {
  for (uint64_t i = 0; i < elements; i++) to[i] = float(from[i]) * scale + offset;
}

inline void toFloat(const float* __restrict from, float* __restrict to, uint64_t elements, float scale, float offset) {
  if (scale == 1.0f && offset == 0.0f) {
    std::memcpy(to, from, elements * sizeof(float));
    return;
  }
  for (uint64_t i = 0; i < elements; i++) to[i] = from[i] * scale + offset;
}

// [height, width, channels] u8 -> [14, 14, channels] f32 means. Rows are summed first (the long, vectorised part), then columns.
// u16 sums hold up to 257 rows per tile, that is images up to 3,598 pixels high; the layout refuses taller ones.
inline void pool14(const uint8_t* from, float* to, uint32_t height, uint32_t width, uint32_t channels, float scale, float offset,
                   std::vector<uint16_t>& sums) {
  const uint32_t tileRows = height / kPooled, tileColumns = width / kPooled, rowBytes = width * channels;
  const float mean = scale / float(tileRows * tileColumns);
  sums.resize(rowBytes);
  uint16_t* __restrict sum = sums.data();
  for (uint32_t tileRow = 0; tileRow < kPooled; tileRow++) {
    const uint8_t* __restrict row = from + uint64_t(tileRow) * tileRows * rowBytes;
    for (uint32_t i = 0; i < rowBytes; i++) sum[i] = row[i];
    for (uint32_t y = 1; y < tileRows; y++) {
      row += rowBytes;
      for (uint32_t i = 0; i < rowBytes; i++) sum[i] = uint16_t(sum[i] + row[i]);
    }
    const uint16_t* tile = sum;
    for (uint32_t tileColumn = 0; tileColumn < kPooled; tileColumn++) {
      for (uint32_t c = 0; c < channels; c++) {
        uint32_t total = 0;
        for (uint32_t x = 0; x < tileColumns; x++) total += tile[x * channels + c];
        *to++ = float(total) * mean + offset;
      }
      tile += tileColumns * channels;
    }
  }
}

}  // namespace envladder
