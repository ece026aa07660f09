#include "hewn/measure/pattern.h"

#include <algorithm>

#include "hewn/core/random.h"

namespace hewn::measure {

std::vector<uint8_t> random_support(const Grid& grid, int64_t keep, uint64_t seed) {
  const std::vector<int64_t> order = permutation(seed, 0, grid.blocks());
  std::vector<uint8_t> support(order.size());
  for (int64_t i = 0; i < keep; ++i) support[static_cast<size_t>(order[static_cast<size_t>(i)])] = 1;
  return support;
}

kernels::BsrPattern random_pattern(const Grid& grid, double sparsity, uint64_t seed) {
  const int64_t keep = blocks_to_keep(grid.blocks(), sparsity);
  return kernels::make_pattern(grid, random_support(grid, keep, seed).data());
}

double density(const kernels::BsrPattern& pattern) {
  int64_t elements = 0;
  for (int64_t col = 0; col < pattern.grid.col_blocks(); ++col) {
    const auto at = static_cast<size_t>(col);
    for (int64_t i = pattern.begin[at]; i < pattern.begin[at + 1]; ++i) {
      const int64_t row = pattern.row[static_cast<size_t>(i)];
      elements += pattern.grid.elements_of(row * pattern.grid.col_blocks() + col);
    }
  }
  return static_cast<double>(elements) / static_cast<double>(pattern.grid.elements());
}

void fill_random(float* values, int64_t count, uint64_t seed, uint64_t what) {
  for (int64_t i = 0; i < count; i += 4) {
    const auto words = draw(seed, Stream::kSynthetic, what, static_cast<uint64_t>(i / 4));
    for (int64_t j = 0; j < std::min<int64_t>(4, count - i); ++j) {
      values[i + j] = static_cast<float>(2 * unit(words[static_cast<size_t>(j)]) - 1);
    }
  }
}

}  // namespace hewn::measure
