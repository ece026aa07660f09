#include "hewn/kernels/taps.h"

#include <gtest/gtest.h>

#include <vector>

#include "hewn/kernels/reference/taps.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

TEST(Taps, SumsEqualTheirFormula) {
  const std::vector<float> in = numbers(1200, 1);
  const std::vector<float> weight = numbers(25, 2);
  const std::vector<float> add = numbers(1000, 3);
  for (const int64_t columns : {0, 1, 7, 8, 9, 24, 33, 64, 130, 600}) {
    for (const int64_t count : {0, 1, 9, 25}) {
      std::vector<int64_t> taps;
      for (int64_t t = 0; t < count; ++t) taps.push_back(t / 5 * 31 + t % 5 - 64);
      for (int options = 0; options < 4; ++options) {
        std::vector<float> fast(1000, 3.0F);
        std::vector<float> plain = fast;
        TapSum sum{in.data() + 64, fast.data(), weight.data(), taps.data(), count, 0.25F};
        sum.add = (options & 1) != 0 ? add.data() : nullptr;
        sum.relu = (options & 2) != 0;
        sum_taps(sum, columns);
        sum.out = plain.data();
        reference::sum_taps(sum, columns);
        ASSERT_LT(largest_difference(fast, plain), 1e-5) << columns << " " << count << " " << options;
      }
    }
  }
}

TEST(Taps, PixelsArePartedInOrder) {
  const std::vector<float> in = numbers(400, 4);
  for (const int64_t count : {0, 1, 5, 8, 16, 23, 100}) {
    std::vector<float> even(150, 1.0F);
    std::vector<float> odd = even;
    std::vector<float> plain_even = even;
    std::vector<float> plain_odd = even;
    part_pixels(in.data(), even.data(), odd.data(), count);
    reference::part_pixels(in.data(), plain_even.data(), plain_odd.data(), count);
    EXPECT_EQ(even, plain_even) << count;
    EXPECT_EQ(odd, plain_odd) << count;
  }
}

}  // namespace
}  // namespace hewn::kernels
