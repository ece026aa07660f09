#include "hewn/measure/interleave.h"

#include <gtest/gtest.h>

namespace hewn::measure {
namespace {

/// Keeps the processor busy for a while of thread CPU time.
void spin(int64_t rounds) {
  volatile double sum = 0;
  for (int64_t i = 0; i < rounds; ++i) sum = sum + 1.0 / static_cast<double>(i + 1);
}

TEST(Interleave, CountsRoundsAndTakesTurns) {
  std::string order;
  const auto timings =
      interleave({{"a", [&] { order += 'a'; }}, {"b", [&] { order += 'b'; }}}, {4, Clock::kThreadCpu, 0});
  EXPECT_EQ(order,
            "aabb"
            "ababab");  // a warm-up call and the first round each, then in turn
  ASSERT_EQ(timings.size(), 2U);
  for (const Timing& timing : timings) {
    EXPECT_EQ(timing.repetitions, 1);
    EXPECT_EQ(timing.round_ms.size(), 4U);
  }
}

TEST(Interleave, RepeatsShortCallsUntilTheyFillASlot) {
  int64_t calls = 0;
  const auto timings = interleave({{"short",
                                    [&] {
                                      ++calls;
                                      spin(100);
                                    }}},
                                  {3, Clock::kThreadCpu, 1});
  EXPECT_GT(timings[0].repetitions, 1);
  EXPECT_EQ(timings[0].round_ms.size(), 3U);
  EXPECT_EQ(calls, 2 + 3 * timings[0].repetitions);
}

TEST(Interleave, GoesOnBehindTheRoundsThatThereAre) {
  std::string order;
  const std::vector<Contender> contenders = {{"a", [&] { order += 'a'; }}, {"b", [&] { order += 'b'; }}};
  const Turns turns{2, Clock::kThreadCpu, 0, 0, false};
  auto timings = interleave(contenders, turns);
  go_on(contenders, turns, timings);
  EXPECT_EQ(order, "abababab");
  for (const Timing& timing : timings) {
    EXPECT_EQ(timing.round_ms.size(), 4U);
    EXPECT_EQ(timing.waiting.size(), 4U);
  }
}

TEST(Interleave, StopsAtTheLimit) {
  const auto timings =
      interleave({{"long", [] { spin(200000); }}}, {1000, Clock::kThreadCpu, 0, 1e-3, false});
  EXPECT_EQ(timings[0].round_ms.size(), 1U);
}

TEST(Interleave, RatiosAreTakenRoundByRound) {
  const Timing fast{"fast", 1, {1, 2, 3, 4, 5}};
  const Timing slow{"slow", 1, {2, 4, 6, 8, 10}};
  const Spread spread = ratio(slow, fast);
  EXPECT_DOUBLE_EQ(spread.median, 2);
  EXPECT_DOUBLE_EQ(spread.low, 2);
  EXPECT_DOUBLE_EQ(spread.high, 2);
  EXPECT_DOUBLE_EQ(fast.median_ms(), 3);
  EXPECT_DOUBLE_EQ(spread_of(slow.round_ms).low, 4);
  EXPECT_DOUBLE_EQ(spread_of(slow.round_ms).high, 8);
}

}  // namespace
}  // namespace hewn::measure
