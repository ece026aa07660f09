#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace hewn::kernels {

/// Activations in pairs: two channels of a pixel side by side in a word, each as bf16, the upper half of a
/// float; the first is the lower half of the word. A channel that is not there is zero.
constexpr int64_t kPairChannels = 2;
inline int64_t pair_rows(int64_t channels) { return (channels + kPairChannels - 1) / kPairChannels; }

/// The bf16 next to a float, ties to even; NaN stays NaN.
inline uint32_t nearest_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return (bits & 0x7fffffffU) > 0x7f800000U ? bits >> 16 | 0x40U : rounded;
}
inline float float_of(uint32_t bf16) { return std::bit_cast<float>(bf16 << 16); }

/// Two rows of floats, one for each channel of a pair; null: the channel is not there.
using TwoRows = std::array<const float*, 2>;

/// pairs[i] = the nearest of rows[0][i] and rows[1][i].
void to_pairs(const TwoRows& rows, uint32_t* pairs, int64_t count);

/// Samples of `channels` floats each to pairs: rows of pairs `stride` apart, the samples side by side.
void samples_to_pairs(const float* samples, int64_t channels, int64_t count, uint32_t* pairs, int64_t stride);

/// The channel `lane` of pairs as floats.
void from_pairs(const uint32_t* pairs, int64_t lane, float* row, int64_t count);

/// to[i] = the larger of a[i] and b[i], channel by channel; b[i] where one is NaN.
void max_of_pairs(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count);

/// Adds the numbers of each channel, in double.
void add_up_pairs(const uint32_t* pairs, int64_t count, std::array<double, 2>& sums);

}  // namespace hewn::kernels
