#pragma once

#include <array>
#include <cstdint>

namespace hewn::kernels {

/// How a value is held in 8 bits: a byte q stands for scale * (q - zero).
struct ByteScale {
  float scale = 1;
  int32_t zero = 0;  // 0 to 255

  bool operator==(const ByteScale&) const = default;
};

/// Activations in words: four channels of a pixel side by side, the first in the lowest byte. Channels that
/// are not there have the byte `zero`.
constexpr int64_t kWordChannels = 4;
inline int64_t word_rows(int64_t channels) { return (channels + kWordChannels - 1) / kWordChannels; }
inline uint32_t word_of(int32_t byte) { return static_cast<uint32_t>(byte) * 0x01010101U; }

/// Four rows of floats, one for each channel of a word; null: the channel is not there.
using FourRows = std::array<const float*, 4>;

/// words[i] = the nearest bytes of rows[0..3][i], ties to even; what no byte reaches becomes the nearest end,
/// NaN the lower one.
void to_words(const FourRows& rows, const ByteScale& bytes, uint32_t* words, int64_t count);

/// One sample's channels, side by side, to words that are `stride` apart.
void sample_to_words(const float* channels, int64_t count, const ByteScale& bytes, uint32_t* words,
                     int64_t stride);

/// Samples of `channels` floats each: rows of words `stride` apart, the samples side by side.
void samples_to_words(const float* samples, int64_t channels, int64_t count, const ByteScale& bytes,
                      uint32_t* words, int64_t stride);

/// The channel `lane` of words as floats.
void from_words(const uint32_t* words, int64_t lane, const ByteScale& bytes, float* row, int64_t count);

/// to[i] = the larger of a[i] and b[i], byte by byte.
void max_of_words(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count);

/// Adds the bytes of each channel.
void add_up_words(const uint32_t* words, int64_t count, std::array<int64_t, 4>& sums);

}  // namespace hewn::kernels
