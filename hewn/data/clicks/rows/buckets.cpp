#include "hewn/data/clicks/rows/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hewn::data {
namespace {

constexpr int64_t kTabled = 4096;

std::array<uint16_t, kTabled> make_table() {
  std::array<uint16_t, kTabled> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = bucket(static_cast<double>(i));
  return table;
}
const std::array<uint16_t, kTabled> kTable = make_table();

}  // namespace

uint16_t bucket(double value) {
  if (value < 0) return 1;
  if (value < 3) return static_cast<uint16_t>(2 + static_cast<int>(value));
  const double logarithm = std::log(value);
  return static_cast<uint16_t>(std::min(4 + std::floor(logarithm * logarithm), double{kLargestBucket}));
}

uint16_t bucket(int64_t value) {
  if (value >= 0 && value < kTabled) return kTable[static_cast<size_t>(value)];
  return bucket(static_cast<double>(value));
}

}  // namespace hewn::data
