#include "hewn/kernels/reference/narrow/words.h"

#include <algorithm>
#include <cmath>

namespace hewn::kernels::reference {
namespace {

int32_t byte_in(uint32_t word, int64_t lane) { return static_cast<int32_t>(word >> (8 * lane) & 255U); }

uint32_t byte_for(float value, const ByteScale& bytes) {
  const float low = static_cast<float>(-bytes.zero);
  const float high = static_cast<float>(255 - bytes.zero);
  const float steps = std::isnan(value) ? low : std::clamp(value * (1.0F / bytes.scale), low, high);
  return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(steps)) + bytes.zero);
}

}  // namespace

void to_words(const FourRows& rows, const ByteScale& bytes, uint32_t* words, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    words[i] = 0;
    for (size_t b = 0; b < 4; ++b) {
      words[i] |= byte_for(rows[b] == nullptr ? 0.0F : rows[b][i], bytes) << (8 * b);
    }
  }
}

void sample_to_words(const float* channels, int64_t count, const ByteScale& bytes, uint32_t* words,
                     int64_t stride) {
  for (int64_t w = 0; w < word_rows(count); ++w) {
    words[w * stride] = 0;
    for (int64_t b = 0; b < 4; ++b) {
      const float value = 4 * w + b < count ? channels[4 * w + b] : 0.0F;
      words[w * stride] |= byte_for(value, bytes) << (8 * b);
    }
  }
}

void samples_to_words(const float* samples, int64_t channels, int64_t count, const ByteScale& bytes,
                      uint32_t* words, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    reference::sample_to_words(samples + i * channels, channels, bytes, words + i, stride);
  }
}

void from_words(const uint32_t* words, int64_t lane, const ByteScale& bytes, float* row, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    row[i] = bytes.scale * static_cast<float>(byte_in(words[i], lane) - bytes.zero);
  }
}

void max_of_words(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    for (int64_t lane = 0; lane < 4; ++lane) {
      word |= static_cast<uint32_t>(std::max(byte_in(a[i], lane), byte_in(b[i], lane))) << (8 * lane);
    }
    to[i] = word;
  }
}

void add_up_words(const uint32_t* words, int64_t count, std::array<int64_t, 4>& sums) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t lane = 0; lane < 4; ++lane) sums[static_cast<size_t>(lane)] += byte_in(words[i], lane);
  }
}

}  // namespace hewn::kernels::reference
