#pragma once

#include <cmath>

#include "hewn/core/philox.h"
#include "hewn/data/synthetic/click_rows.h"

namespace hewn::data {

/// A word per field and one for the label.
constexpr int kClickBlocks = (kClickFields + 1) / 4;
static_assert(kClickFields + 1 == 4 * kClickBlocks);

struct ClickLabel {
  float target;
  float logit;
};

/// The value of a field from one word: its product with the vocabulary's size is an entry in the high half
/// and, in the low half, where in that entry.
HEWN_CPU_AND_GPU inline int32_t click_value(const ClickTruth& truth, int field, uint32_t word) {
  const int32_t begin = truth.first[field];
  const uint64_t position =
      static_cast<uint64_t>(word) * static_cast<uint32_t>(truth.first[field + 1] - begin);
  const auto own = static_cast<int32_t>(position >> 32);
  const AliasEntry entry = truth.aliases[begin + own];
  return static_cast<uint32_t>(position) < entry.threshold ? own : entry.other;
}

/// One row: its 39 values go to `input`.
HEWN_CPU_AND_GPU inline ClickLabel click_row(const ClickTruth& truth, const ClickStream& stream, int64_t row,
                                             int32_t* input) {
  float own = truth.bias;
  float sum[kClickRank] = {};
  uint32_t label_word = 0;
  for (int block = 0; block < kClickBlocks; ++block) {
    const PhiloxBlock random =
        philox_mix(stream.key, stream.counter_high,
                   static_cast<uint64_t>(row) * kClickBlocks + static_cast<uint64_t>(block));
    for (int i = 0; i < 4; ++i) {
      const int field = 4 * block + i;
      if (field == kClickFields) {
        label_word = random.word[i];
        break;
      }
      const int32_t value = click_value(truth, field, random.word[i]);
      input[field] = value;
      const ValueEffect& effect = truth.effects[truth.first[field] + value];
      own += effect.own;
      for (int k = 0; k < kClickRank; ++k) sum[k] += effect.factor[k];
    }
  }
  float squares = 0;
  for (const float s : sum) squares += s * s;
  const float logit = own + 0.5f * squares;
  const float probability = 1.0f / (1.0f + std::exp(-logit));
  const bool clicked = static_cast<double>(label_word) < 0x1p32 * static_cast<double>(probability);
  return {clicked ? 1.0f : 0.0f, logit};
}

}  // namespace hewn::data
