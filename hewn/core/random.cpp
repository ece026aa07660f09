#include "hewn/core/random.h"

#include <numeric>
#include <utility>

namespace hewn {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_high, uint64_t counter_low) {
  uint32_t x0 = static_cast<uint32_t>(counter_low);
  uint32_t x1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t x2 = static_cast<uint32_t>(counter_high);
  uint32_t x3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ULL * x0;
    const uint64_t p1 = 0xCD9E8D57ULL * x2;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x1 = static_cast<uint32_t>(p1);
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {x0, x1, x2, x3};
}

std::array<uint32_t, 4> draw(uint64_t seed, Stream stream, uint64_t epoch, uint64_t index) {
  // The stream shares the high counter with the epoch: 2^56 epochs are enough for anyone.
  return philox(seed, (static_cast<uint64_t>(stream) << 56) | epoch, index);
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
