// Made-up rounds, and whether a ratio can be told from them.
#include "hewn/measure/steadiness.h"

#include <gtest/gtest.h>

#include <thread>

#include "hewn/measure/processor.h"

namespace hewn::measure {
namespace {

/// A dense way of these times against a sparse one of 1 ms; in some rounds a thread waited.
Steadiness judged(const std::vector<double>& dense_ms, const std::vector<double>& waiting = {}) {
  return judge({"dense", 1, dense_ms, waiting}, {"sparse", 1, std::vector<double>(dense_ms.size(), 1.0)});
}

TEST(Steadiness, QuietRoundsTellTheRatio) {
  const Steadiness quiet = judged({8.0, 8.1, 7.9, 8.2, 8.0, 8.0, 7.8});
  EXPECT_TRUE(quiet.steady()) << quiet.withheld;
  EXPECT_EQ(quiet.rounds, 7);
  EXPECT_EQ(quiet.calm, 7);
  EXPECT_DOUBLE_EQ(quiet.ratio.median, 8.0);
}

TEST(Steadiness, RoundsThatOthersDisturbedAreLeftOut) {
  const Timing dense{"dense", 1, {57.7, 8.0, 60, 8.1, 56, 7.9, 58}, {0.9, 0, 0.8, 0.01, 0.7, 0.02, 0.9}};
  const Timing sparse{"sparse", 1, {1, 1, 1, 1, 1, 1, 1}};
  const Steadiness some = judge(dense, sparse);
  EXPECT_TRUE(some.steady()) << some.withheld;
  EXPECT_EQ(some.calm, 3);
  EXPECT_DOUBLE_EQ(some.ratio.median, 8.0);
  EXPECT_DOUBLE_EQ(dense.median_ms(), 8.0);
  // The other way may be the one that was disturbed.
  EXPECT_DOUBLE_EQ(judge(sparse, dense).ratio.median, 1 / 8.0);
  EXPECT_EQ(judge(sparse, dense).calm, 3);
}

TEST(Steadiness, ABusyMachineIsNamed) {
  const Steadiness busy = judged({57.7, 3.1, 3.5, 8.0, 20}, {0.9, 0.5, 0.06, 0, 0.01});
  EXPECT_EQ(busy.withheld, "other programs held the processors in 3 of 5 rounds");
  EXPECT_EQ(judged({8.0}, {0.5}).withheld, "other programs held the processors in 1 of 1 round");
}

TEST(Steadiness, RoundsThatDisagreeTellNothing) {
  const Steadiness restless = judged({57.7, 3.1, 8.0, 3.5, 8.1, 60.2, 7.9});
  EXPECT_EQ(restless.withheld,
            "the machine was too restless: a quarter of 7 rounds say less than 7.90x and a quarter more than "
            "57.7x");
}

TEST(Steadiness, MoreRoundsMakeUpForSomeSpread) {
  const std::vector<double> once = {7.0, 7.5, 8.0, 8.0, 8.0, 8.5, 9.5};
  std::vector<double> often;
  for (int i = 0; i < 4; ++i) often.insert(often.end(), once.begin(), once.end());
  EXPECT_TRUE(judged(often).steady());
  const std::vector<double> wide = {6.0, 7.0, 7.2, 8.0, 8.8, 9.0, 10.0};
  EXPECT_FALSE(judged(wide).steady());
}

TEST(Steadiness, WaysThatSlowDownTogetherTellTheRatioAndOthersDoNot) {
  Timing dense{"dense", 1, {8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16}};
  Timing sparse{"sparse", 1, {1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}};
  EXPECT_TRUE(judge(dense, sparse).steady());
  dense.round_ms.insert(dense.round_ms.end(), {8, 8, 8});
  sparse.round_ms.insert(sparse.round_ms.end(), {2, 2, 2});
  EXPECT_EQ(judge(dense, sparse).withheld,
            "the machine was too restless: 15 rounds say 8.00x, the medians of their times 4.00x");
}

TEST(Steadiness, OneRoundHasNoSpread) {
  EXPECT_TRUE(judged({57.7}).steady());
  EXPECT_DOUBLE_EQ(judged({57.7}).ratio.median, 57.7);
}

TEST(Waits, MoreThreadsThanProcessorsWait) {
  if (waits_of_threads().empty()) GTEST_SKIP() << "this system does not tell how long threads wait";
  const auto spin = [] {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 3 * std::thread::hardware_concurrency(); ++i) {
      threads.emplace_back([] {
        const double end = now_ms(Clock::kWall) + 100;
        while (now_ms(Clock::kWall) < end) {
        }
      });
    }
    // Threads that have ended are not listed.
    const double end = now_ms(Clock::kWall) + 60;
    while (now_ms(Clock::kWall) < end) {
    }
  };
  const auto timings = interleave({{"crowd", spin}}, {1, Clock::kWall, 0, 0, false});
  EXPECT_EQ(timings[0].calm_rounds(), 0);
  EXPECT_EQ(interleave({{"crowd", spin}}, {1, Clock::kThreadCpu, 0, 0, false})[0].calm_rounds(), 1);
}

}  // namespace
}  // namespace hewn::measure
