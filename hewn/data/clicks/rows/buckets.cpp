#include "hewn/data/clicks/rows/buckets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

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

std::vector<double> bucket_cuts(uint64_t buckets) {
  std::vector<double> out;
  for (uint64_t wanted = 2; wanted < std::min<uint64_t>(buckets, kLargestBucket + 1); ++wanted) {
    // The bits of numbers from 0 on grow with them, so halving finds the very number where a bucket begins.
    uint64_t low = 0;
    uint64_t high = std::bit_cast<uint64_t>(std::numeric_limits<double>::max());
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (bucket(std::bit_cast<double>(middle)) >= wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    out.push_back(std::bit_cast<double>(low));
  }
  return out;
}

}  // namespace hewn::data
