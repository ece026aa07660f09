#include "hewn/run/time_left.h"

#include <gtest/gtest.h>

namespace hewn::run {
namespace {

using prune::Phase;

TEST(TimeLeft, CountsPhasesByTheirOwnPaceAndEvaluations) {
  // 10 s to begin with, then 1 s a dense step, 0.2 s a sparse one and 5 s an evaluation every 100 steps.
  Course course;
  course.steps = 400;
  course.left = {200, 0, 200};
  course.evaluations = 5;
  course.evaluation_size = 15;  // 5 s by the rule of thumb
  TimeLeft left;
  double now = 100;
  left.begin(course, now);
  EXPECT_FALSE(left.seconds());
  double before = 0;
  for (int64_t step = 1; step <= 400; ++step) {
    const Phase phase = step <= 200 ? Phase::kDense : Phase::kSparse;
    now += step == 1 ? 10 : phase == Phase::kDense ? 1 : 0.2;
    left.step(phase, now);
    if (step == 1) {
      EXPECT_FALSE(left.seconds());  // nothing but the slow one was seen
      continue;
    }
    // Never above what it was, and falls by no leap.
    ASSERT_TRUE(left.seconds());
    if (step > 2) {
      EXPECT_LE(*left.seconds(), before + 1e-9) << step;
      EXPECT_GT(*left.seconds(), before - 20) << step;
    }
    if (step % 100 == 0) {
      now += 5;
      left.evaluated(now);
    }
    if (step == 150) {
      EXPECT_NEAR(*left.seconds(), 50 + 200 + 20, 1);  // what comes is taken to be like what was
    }
    if (step == 250) {
      EXPECT_NEAR(*left.seconds(), 150 * 0.2 + 15, 25);
    }
    if (step == 390) {
      EXPECT_NEAR(*left.seconds(), 10 * 0.2 + 10, 1);
    }
    before = *left.seconds();
  }
  left.evaluated(now + 5);
  EXPECT_NEAR(*left.seconds(), 0, 1e-9);
}

TEST(TimeLeft, OfTheDenseModelCountsTheOneBehindIt) {
  Course course;
  course.steps = 100;
  course.left = {150, 20, 30};  // 100 of them its own
  course.another = true;
  TimeLeft left;
  left.begin(course, 0);
  for (int step = 1; step <= 50; ++step) left.step(Phase::kDense, step);
  EXPECT_NEAR(*left.seconds(), 150, 1e-6);
  for (int step = 51; step <= 100; ++step) left.step(Phase::kDense, step);
  course.left = {50, 20, 30};
  left.begin(course, 110);  // what was seen stays
  EXPECT_NEAR(*left.seconds(), 100, 1e-6);
}

}  // namespace
}  // namespace hewn::run
