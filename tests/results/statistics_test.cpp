// Against values worked out by hand.
#include "hewn/results/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/results/pairing.h"

namespace hewn::results {
namespace {

TEST(Statistics, MeanAndDeviation) {
  EXPECT_DOUBLE_EQ(mean({2, 4, 9}), 5);
  EXPECT_DOUBLE_EQ(*deviation({2, 4, 9}), std::sqrt(13.0));  // (9 + 1 + 16) / 2
  EXPECT_FALSE(deviation({2}));
}

TEST(Statistics, SignTestIsTheExactBinomial) {
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
  EXPECT_NEAR(sign_test(1, 0), 1, 1e-12);
  EXPECT_NEAR(sign_test(5, 0), 2.0 / 32, 1e-12);
  EXPECT_NEAR(sign_test(6, 0), 2.0 / 64, 1e-12);
  EXPECT_NEAR(sign_test(1, 8), 2.0 * (1 + 9) / 512, 1e-12);
  EXPECT_NEAR(sign_test(8, 2), 2.0 * (1 + 10 + 45) / 1024, 1e-12);
  EXPECT_NEAR(sign_test(5, 5), 1, 1e-12);
  EXPECT_NEAR(sign_test(4, 5), 1, 1e-12);
  // 2000 : 0 underflows any power of two written out; 1100 : 900 is 4.5 standard deviations from even.
  EXPECT_GE(sign_test(2000, 0), 0);
  EXPECT_NEAR(sign_test(1100, 900), 8.5e-6, 0.5e-6);
}

TEST(Pairing, CountsByWhatIsBetterForTheMetric) {
  const std::vector<std::pair<double, double>> pairs = {{0.5, 0.5}, {0.8, 0.7}, {0.6, 0.8}, {0.5, 0.8}};
  const Pairing loss = pair_up("loss", pairs);
  EXPECT_EQ(loss.wins, 2);
  EXPECT_EQ(loss.losses, 1);
  EXPECT_EQ(loss.ties, 1);
  EXPECT_EQ(loss.pairs(), 4);
  EXPECT_NEAR(loss.difference, -0.1, 1e-12);
  EXPECT_NEAR(loss.p, 1, 1e-12);
  const Pairing auc = pair_up("auc", pairs);
  EXPECT_EQ(auc.wins, 1);
  EXPECT_EQ(auc.losses, 2);
  const Pairing back = loss.reversed();
  EXPECT_EQ(back.wins, 1);
  EXPECT_NEAR(back.difference, 0.1, 1e-12);
}

}  // namespace
}  // namespace hewn::results
