#include "hewn/core/random.h"

#include <numeric>
#include <utility>

#include "hewn/core/philox.h"

namespace hewn {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_high, uint64_t counter_low) {
  const PhiloxBlock block = philox_mix(key, counter_high, counter_low);
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

std::array<uint32_t, 4> draw(uint64_t seed, Stream stream, uint64_t epoch, uint64_t index) {
  return philox(seed, counter_of(stream, epoch), index);
}

std::vector<int64_t> permutation(uint64_t seed, uint64_t epoch, int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = size - 1; i > 0; --i) {
    const auto word = draw(seed, Stream::kOrder, epoch, static_cast<uint64_t>(i))[0];
    const auto j = below(word, static_cast<uint32_t>(i + 1));
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
  return order;
}

}  // namespace hewn
