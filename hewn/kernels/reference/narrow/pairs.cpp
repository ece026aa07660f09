#include "hewn/kernels/reference/narrow/pairs.h"

#include <cstddef>

namespace hewn::kernels::reference {
namespace {

float channel_of(uint32_t pair, int64_t lane) { return float_of(pair >> (16 * lane) & 0xffffU); }

/// Both neighbours of the float are tried.
uint32_t bf16_for(float value) {
  const uint32_t down = std::bit_cast<uint32_t>(value) >> 16;
  if (value != value) return down | 0x40U;
  const double below = double{float_of(down)};
  const double above = down == 0x7f7fU || down == 0xff7fU ? (value < 0 ? -0x1p128 : 0x1p128)
                       : (down & 0x7fffU) >= 0x7f80U      ? below
                                                          : double{float_of(down + 1)};
  const double half = (below + above) / 2;
  const bool up = below != above && (below < above ? value > half : value < half);
  const bool tie = below != above && double{value} == half;
  return up || (tie && (down & 1U) != 0) ? down + 1 : down;
}

}  // namespace

void to_pairs(const TwoRows& rows, uint32_t* pairs, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    pairs[i] = bf16_for(rows[0][i]) | (rows[1] == nullptr ? 0 : bf16_for(rows[1][i])) << 16;
  }
}

void samples_to_pairs(const float* samples, int64_t channels, int64_t count, uint32_t* pairs,
                      int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < pair_rows(channels); ++r) {
      const float* from = samples + i * channels + 2 * r;
      pairs[r * stride + i] = bf16_for(from[0]) | (2 * r + 1 < channels ? bf16_for(from[1]) << 16 : 0);
    }
  }
}

void from_pairs(const uint32_t* pairs, int64_t lane, float* row, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] = channel_of(pairs[i], lane);
}

void max_of_pairs(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    for (int64_t lane = 0; lane < 2; ++lane) {
      const uint32_t from = channel_of(a[i], lane) > channel_of(b[i], lane) ? a[i] : b[i];
      word |= from & 0xffffU << (16 * lane);
    }
    to[i] = word;
  }
}

void add_up_pairs(const uint32_t* pairs, int64_t count, std::array<double, 2>& sums) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t lane = 0; lane < 2; ++lane)
      sums[static_cast<std::size_t>(lane)] += channel_of(pairs[i], lane);
  }
}

}  // namespace hewn::kernels::reference
