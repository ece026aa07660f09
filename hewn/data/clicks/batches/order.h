#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hewn/data/clicks/cache/cache_file.h"

namespace hewn::data {

/// Groups whose training rows are shuffled together.
struct Window {
  std::vector<size_t> groups;
  uint64_t begin = 0;  // position of its first row in the epoch
  uint64_t rows = 0;   // training rows
};

/// A window is closed once it has so many training rows.
constexpr uint64_t kWindowRows = uint64_t{1} << 18;

/// The order of an epoch: groups are shuffled and put into windows; rows are shuffled within their window. A
/// pure function of its arguments; what it needs to remember grows with the groups, not with the rows.
std::vector<Window> epoch_windows(const std::vector<CacheGroup>& groups, uint64_t seed, uint64_t epoch);

/// Where the training rows of a window go: row i, in the order of its groups, to position out[i].
std::vector<uint32_t> window_positions(const Window& window, size_t number, uint64_t seed, uint64_t epoch);

}  // namespace hewn::data
