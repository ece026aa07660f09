#include "hewn/data/synthetic/reference/click_rows.h"

#include <cmath>
#include <cstddef>

#include "hewn/core/random.h"

namespace hewn::data::reference {
namespace {

double dot(const ValueEffect& a, const ValueEffect& b) {
  double out = 0;
  for (int k = 0; k < kClickRank; ++k) {
    out += static_cast<double>(a.factor[k]) * static_cast<double>(b.factor[k]);
  }
  return out;
}

double logit_of(const ClickTruth& truth, const int32_t* values) {
  const auto effect = [&](int field) -> const ValueEffect& {
    return truth.effects[truth.first[field] + values[field]];
  };
  double logit = truth.bias;
  for (int f = 0; f < kClickFields; ++f) {
    logit += effect(f).own + dot(effect(f), effect(f)) / 2;
    for (int g = f + 1; g < kClickFields; ++g) logit += dot(effect(f), effect(g));
  }
  return logit;
}

}  // namespace

void click_rows(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count,
                int32_t* input, float* target, double* probability) {
  for (int64_t i = 0; i < count; ++i) {
    const auto word = [&](int64_t number) {
      const int64_t position = (first + i) * (kClickFields + 1) + number;
      const auto block = philox(stream.key, stream.counter_high, static_cast<uint64_t>(position / 4));
      return block[static_cast<size_t>(position % 4)];
    };
    int32_t* values = input + i * kClickFields;
    for (int f = 0; f < kClickFields; ++f) {
      const double position = unit(word(f)) * (truth.first[f + 1] - truth.first[f]);  // exact: 32 + 14 bits
      const auto own = static_cast<int32_t>(position);
      const AliasEntry& entry = truth.aliases[truth.first[f] + own];
      values[f] = position - own < unit(entry.threshold) ? own : entry.other;
    }
    probability[i] = 1 / (1 + std::exp(-logit_of(truth, values)));
    target[i] = unit(word(kClickFields)) < probability[i] ? 1.0f : 0.0f;
  }
}

}  // namespace hewn::data::reference
