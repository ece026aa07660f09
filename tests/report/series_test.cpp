#include "hewn/report/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hewn::report {
namespace {

Series wave(size_t count) {
  Series series;
  for (size_t i = 0; i < count; ++i)
    series.add(static_cast<double>(i), std::sin(static_cast<double>(i) / 50));
  return series;
}

TEST(Series, ShortOnesStayAsTheyAre) {
  const Series series = wave(100);
  EXPECT_EQ(thin(series, 100).y, series.y);
}

TEST(Series, ThinningKeepsSpikesAndEnds) {
  Series series = wave(100000);
  series.y[31234] = 40;
  series.y[77777] = -40;
  const Series thinned = thin(series, 1000);
  EXPECT_LE(thinned.x.size(), 1000U);
  EXPECT_GT(thinned.x.size(), 900U);
  EXPECT_EQ(thinned.x.front(), 0);
  EXPECT_EQ(thinned.x.back(), 99999);
  EXPECT_EQ(*std::max_element(thinned.y.begin(), thinned.y.end()), 40);
  EXPECT_EQ(*std::min_element(thinned.y.begin(), thinned.y.end()), -40);
  EXPECT_TRUE(std::is_sorted(thinned.x.begin(), thinned.x.end()));
  EXPECT_EQ(std::adjacent_find(thinned.x.begin(), thinned.x.end()), thinned.x.end());
}

TEST(Series, NumbersAreShort) {
  EXPECT_EQ(rounded(0.123456789).dump(), "0.12346");
  EXPECT_EQ(rounded(3).dump(), "3");
  EXPECT_EQ(rounded(123456789.0).dump(), "123456789");
  EXPECT_TRUE(rounded(NAN).is_null());
}

}  // namespace
}  // namespace hewn::report
