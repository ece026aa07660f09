#include "hewn/data/synthetic/alias.h"

#include <cstddef>
#include <numeric>

namespace hewn::data {

std::vector<AliasEntry> alias_table(const std::vector<double>& weights) {
  const double mean =
      std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  std::vector<double> left;
  std::vector<size_t> poor, rich;
  for (size_t i = 0; i < weights.size(); ++i) {
    left.push_back(weights[i] / mean);
    (left[i] < 1 ? poor : rich).push_back(i);
  }
  std::vector<AliasEntry> entries(weights.size());
  while (!poor.empty() && !rich.empty()) {
    const size_t taker = poor.back();
    const size_t giver = rich.back();
    poor.pop_back();
    entries[taker] = {static_cast<uint32_t>(left[taker] * 0x1p32), static_cast<int32_t>(giver)};
    left[giver] -= 1 - left[taker];
    if (left[giver] >= 1) continue;
    rich.pop_back();
    poor.push_back(giver);
  }
  // What is left is full but for rounding: both branches lead to the value itself.
  for (const auto* rest : {&poor, &rich}) {
    for (const size_t i : *rest) entries[i].other = static_cast<int32_t>(i);
  }
  return entries;
}

}  // namespace hewn::data
