#pragma once

#include <cstdint>
#include <vector>

namespace hewn::data {

/// Numeric features become numbers of buckets that grow with the logarithm:
///   0 missing, 1 negative, 2 + floor(x) for 0 <= x < 3, 4 + floor(ln(x)^2) from 3 on, kLargestBucket at
///   most.
constexpr uint16_t kMissingBucket = 0;
constexpr uint16_t kLargestBucket = 1023;

uint16_t bucket(double value);
/// The same for whole numbers, faster.
uint16_t bucket(int64_t value);

/// The same as data: bucket(x) is 1 + the number of cuts that are at most x, where it is below `buckets`;
/// larger ones come out as the last one below.
std::vector<double> bucket_cuts(uint64_t buckets);

}  // namespace hewn::data
