#include "hewn/data/clicks/batches/order.h"

#include <numeric>
#include <utility>

#include "hewn/core/random.h"

namespace hewn::data {

std::vector<Window> epoch_windows(const std::vector<CacheGroup>& groups, uint64_t seed, uint64_t epoch) {
  std::vector<Window> out;
  uint64_t begin = 0;
  for (const int64_t index : permutation(seed, epoch, static_cast<int64_t>(groups.size()))) {
    const auto group = static_cast<size_t>(index);
    const uint64_t rows = groups[group].parts[static_cast<size_t>(RowPart::kTrain)];
    if (rows == 0) continue;
    if (out.empty() || out.back().rows >= kWindowRows) out.push_back({{}, begin, 0});
    out.back().groups.push_back(group);
    out.back().rows += rows;
    begin += rows;
  }
  return out;
}

std::vector<uint32_t> window_positions(const Window& window, size_t number, uint64_t seed, uint64_t epoch) {
  std::vector<uint32_t> positions(window.rows);
  std::iota(positions.begin(), positions.end(), 0);
  std::array<uint32_t, 4> words{};
  for (size_t i = positions.size(); i-- > 1;) {
    const uint64_t counter = (static_cast<uint64_t>(number) << 32) | i;
    if (i % 4 == 3 || i + 1 == positions.size()) words = draw(seed, Stream::kRows, epoch, counter / 4);
    std::swap(positions[i], positions[below(words[i % 4], static_cast<uint32_t>(i + 1))]);
  }
  return positions;
}

}  // namespace hewn::data
