#include "hewn/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace hewn {
namespace {

// Known answers from the authors' distribution (Random123, kat_vectors, philox4x32-10).
TEST(Random, PhiloxMatchesKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ULL, ~0ULL, ~0ULL),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, PermutationsAreCompleteAndDiffer) {
  auto a = permutation(1, 0, 1000);
  const auto b = permutation(1, 1, 1000);
  const auto c = permutation(2, 0, 1000);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(a, permutation(1, 0, 1000));
  std::sort(a.begin(), a.end());
  std::vector<int64_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(a, all);
}

TEST(Random, BelowIsUniform) {
  std::array<int, 9> counts{};
  for (uint64_t i = 0; i < 90000; ++i) ++counts[below(draw(3, Stream::kAugment, 0, i)[0], 9)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

}  // namespace
}  // namespace hewn
