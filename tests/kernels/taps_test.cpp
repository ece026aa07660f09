#include "hewn/kernels/taps.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Taps, EverySecondPixelIsFound) {
  for (const int64_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 16, 23, 28, 100}) {
    // Not a float more than there must be: ASan sees what is read behind the last one.
    const int64_t line = 2 * count + 3;
    const std::vector<float> in = numbers(2 * line + std::max<int64_t>(0, 2 * count - 1), 4);
    std::vector<float> fast(static_cast<size_t>(3 * count + 3), 1.0F);
    std::vector<float> plain = fast;
    PixelLines lines{in.data(), line, fast.data(), count + 1, 3, count};
    every_second(lines);
    lines.out = plain.data();
    reference::every_second(lines);
    EXPECT_EQ(fast, plain) << count;
  }
}

TEST(Taps, PoolsEqualTheirFormula) {
  for (const int64_t width : {1, 2, 5, 7, 8, 17, 33, 112}) {
    for (const int64_t lines : {0, 1, 3}) {
      for (int options = 0; options < 36; ++options) {
        PoolLine pool;
        pool.line = width + 2;
        pool.lines = lines;
        pool.width = width;
        pool.kernel = 1 + options % 3;
        pool.stride = 1 + options / 3 % 3;
        pool.dilation = 1 + options / 9 % 2;
        pool.before = options / 18 * (pool.kernel - 1);
        const int64_t span = (pool.kernel - 1) * pool.dilation + 1;
        // One window more than fits: those that ceil_mode adds.
        pool.count = std::max<int64_t>(1, (width + 2 * pool.before - span) / pool.stride + 2);
        const std::vector<float> in = numbers(3 * pool.line, 5);
        std::vector<float> room(static_cast<size_t>(pool.room()));
        std::vector<float> fast(static_cast<size_t>(pool.count), 7.0F);
        std::vector<float> plain = fast;
        pool.in = in.data();
        for (const Fold fold : {Fold::kMax, Fold::kSum}) {
          pool.out = fast.data();
          pool_line(fold, pool, room.data());
          pool.out = plain.data();
          reference::pool_line(fold, pool, room.data());
          for (size_t i = 0; i < fast.size(); ++i) {
            if (fast[i] == plain[i]) continue;  // infinities too
            ASSERT_NEAR(fast[i], plain[i], 1e-5) << width << " " << lines << " " << options << " " << i;
          }
        }
      }
    }
  }
}

TEST(Taps, LinesAreSummed) {
  const std::vector<float> in = numbers(1080, 6);
  for (const int64_t width : {0, 1, 7, 8, 16, 17, 112}) {
    for (const int64_t lines : {0, 1, 7}) {
      EXPECT_NEAR(sum_lines(in.data(), width + 3, lines, width),
                  reference::sum_lines(in.data(), width + 3, lines, width), 1e-4)
          << width << " " << lines;
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
