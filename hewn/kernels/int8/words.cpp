#include "hewn/kernels/int8/words.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hewn/kernels/int8/byte_one.h"
#include "hewn/kernels/int8/byte_tile.h"

namespace hewn::kernels {

void to_words(const FourRows& rows, const ByteScale& bytes, uint32_t* words, int64_t count) {
  byte_machine().to_words(rows, bytes, words, count);
}

void sample_to_words(const float* channels, int64_t count, const ByteScale& bytes, uint32_t* words,
                     int64_t stride) {
  static_assert(std::endian::native == std::endian::little, "the first of four bytes is the lowest");
  constexpr int64_t kPiece = 128;
  const float inverse = 1.0F / bytes.scale;
  std::array<uint8_t, kPiece> piece;
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t here = std::min(kPiece, count - first);
    for (int64_t i = 0; i < here; ++i) {
      piece[static_cast<size_t>(i)] =
          static_cast<uint8_t>(nearest_byte(channels[first + i], inverse, bytes.zero));
    }
    std::fill(piece.begin() + here, piece.end(), static_cast<uint8_t>(bytes.zero));
    for (int64_t i = 0; i < here; i += kWordChannels) {
      std::memcpy(words + (first + i) / kWordChannels * stride, piece.data() + i, sizeof(uint32_t));
    }
  }
}

void samples_to_words(const float* samples, int64_t channels, int64_t count, const ByteScale& bytes,
                      uint32_t* words, int64_t stride) {
  const auto fast = byte_machine().samples;
  const int64_t done = fast == nullptr ? 0 : fast({samples, channels, count}, bytes, words, stride);
  for (int64_t i = done; i < count; ++i) {
    sample_to_words(samples + i * channels, channels, bytes, words + i, stride);
  }
}

void from_words(const uint32_t* words, int64_t lane, const ByteScale& bytes, float* row, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<int32_t>(words[i] >> (8 * lane) & 255U);
    row[i] = bytes.scale * static_cast<float>(byte - bytes.zero);
  }
}

void max_of_words(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count) {
  const auto* left = reinterpret_cast<const uint8_t*>(a);
  const auto* right = reinterpret_cast<const uint8_t*>(b);
  auto* out = reinterpret_cast<uint8_t*>(to);
  for (int64_t i = 0; i < 4 * count; ++i) out[i] = std::max(left[i], right[i]);
}

void add_up_words(const uint32_t* words, int64_t count, std::array<int64_t, 4>& sums) {
  // Two channels side by side in 16 bits each, which 257 bytes fit.
  constexpr int64_t kMost = 256;
  for (int64_t first = 0; first < count; first += kMost) {
    uint32_t even = 0;
    uint32_t odd = 0;
    for (int64_t i = first; i < std::min(count, first + kMost); ++i) {
      even += words[i] & 0x00ff00ffU;
      odd += words[i] >> 8 & 0x00ff00ffU;
    }
    sums[0] += even & 0xffffU;
    sums[1] += odd & 0xffffU;
    sums[2] += even >> 16;
    sums[3] += odd >> 16;
  }
}

}  // namespace hewn::kernels
