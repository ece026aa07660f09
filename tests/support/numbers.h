#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/core/random.h"

namespace hewn {

/// Repeatable numbers in [-0.5, 0.5).
inline std::vector<float> numbers(int64_t count, uint64_t stream) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(unit(draw(stream, Stream::kPattern, 0, i)[0]) - 0.5);
  }
  return out;
}

enum class Pattern { kRandom, kEmpty, kFull, kOne };

/// A support of a grid: about a third of the blocks, none, all, or the last one.
inline std::vector<uint8_t> support_of(const Grid& grid, Pattern pattern) {
  std::vector<uint8_t> out(static_cast<size_t>(grid.blocks()), pattern == Pattern::kFull ? 1 : 0);
  for (size_t i = 0; pattern == Pattern::kRandom && i < out.size(); ++i) {
    out[i] = draw(9, Stream::kPattern, 1, i)[0] % 3 == 0 ? 1 : 0;
  }
  if (pattern == Pattern::kOne) out.back() = 1;
  return out;
}

/// The largest difference, relative to the largest value expected (at least 1).
inline double largest_difference(const std::vector<float>& got, const std::vector<float>& expected) {
  double largest = 1;
  double difference = got.size() == expected.size() ? 0 : 1e30;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    const double d = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    difference = std::max(difference, std::isnan(d) ? 1e30 : d);
  }
  return difference / largest;
}

}  // namespace hewn
