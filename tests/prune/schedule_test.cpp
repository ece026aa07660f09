#include "hewn/prune/schedule/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

constexpr auto D = Phase::kDense;
constexpr auto R = Phase::kSparsification;
constexpr auto S = Phase::kSparse;

std::vector<int64_t> begins(const Schedule& schedule, Phase phase) {
  std::vector<int64_t> out;
  for (const PhaseSpan& span : schedule.phases()) {
    if (span.phase == phase) out.push_back(span.begin);
  }
  return out;
}

TEST(Schedule, AcdcImagenetPrunesAndRestoresWhereAcdcDoes) {
  const Schedule schedule = make_schedule("acdc/imagenet", {}, 100);  // one step an epoch
  EXPECT_EQ(begins(schedule, S), (std::vector<int64_t>{10, 20, 30, 40, 50, 60, 70, 85}));
  EXPECT_EQ(begins(schedule, D), (std::vector<int64_t>{0, 15, 25, 35, 45, 55, 65, 75}));
  EXPECT_EQ(schedule.steps(), 100);
}

TEST(Schedule, SaImagenetHasThirdsAndALongLastRamp) {
  const Schedule schedule = make_schedule("sa++/imagenet", {}, 3000);
  const auto& phases = schedule.phases();
  ASSERT_EQ(phases.size(), 21U);  // dense, six cycles of three, ramp, sparse
  EXPECT_EQ(phases[0].phase, D);
  EXPECT_EQ(phases[0].end, 300);
  for (size_t cycle = 0; cycle < 6; ++cycle) {
    for (size_t part = 0; part < 3; ++part) {
      const PhaseSpan& span = phases[1 + 3 * cycle + part];
      EXPECT_EQ(span.phase, part == 0 ? R : part == 1 ? S : D);
      EXPECT_EQ(span.end - span.begin, 100);
    }
  }
  EXPECT_EQ(phases[19].phase, R);
  EXPECT_EQ(phases[19].begin, 2100);
  EXPECT_EQ(phases[20].phase, S);
  EXPECT_EQ(phases[20].begin, 2550);
}

TEST(Schedule, CyclesAndTheFirstDenseShareCanBeChosen) {
  const ScheduleOptions options{.dense_fraction = 0.5, .cycles = 3};
  const Schedule sa = make_schedule("sa++/ctr", options, 1000);
  EXPECT_EQ(begins(sa, D), (std::vector<int64_t>{0, 567, 667}));
  EXPECT_EQ(begins(sa, R), (std::vector<int64_t>{500, 600, 700}));
  EXPECT_EQ(sa.phases().back().begin, 800);
  const Schedule acdc = make_schedule("acdc/ctr", options, 1000);
  EXPECT_EQ(begins(acdc, S), (std::vector<int64_t>{500, 600, 700, 800}));
  const Schedule one = make_schedule("sa++/ctr", {.cycles = 1}, 1000);
  ASSERT_EQ(one.phases().size(), 3U);  // dense, ramp, sparse
  EXPECT_EQ(one.phases()[1].begin, 200);
  EXPECT_THROW(make_schedule("sa++/ctr", {.cycles = 0}, 1000), Error);
  EXPECT_THROW(make_schedule("acdc/ctr", {.dense_fraction = 0.8}, 1000), Error);
  EXPECT_THROW(make_schedule("sa++/ctr", {.dense_fraction = -0.1}, 1000), Error);
}

TEST(Schedule, CtrForms) {
  const Schedule acdc = make_schedule("acdc/ctr", {}, 1000);
  EXPECT_EQ(acdc.phases().size(), 22U);
  EXPECT_EQ(acdc.phases()[0].end, 200);
  EXPECT_EQ(acdc.phases()[1].end, 230);
  EXPECT_EQ(acdc.phases().back().begin, 800);
  const Schedule sa = make_schedule("sa++/ctr", {}, 1000);
  EXPECT_EQ(sa.phases().size(), 30U);  // dense, nine cycles of three, ramp, sparse
  EXPECT_EQ(sa.phases()[28].phase, R);
  EXPECT_EQ(sa.phases()[28].begin, 740);
  EXPECT_EQ(sa.phases()[28].end, 800);
}

TEST(Schedule, WithoutSparsificationItsShareGoesToSparseAndDense) {
  ScheduleOptions options;
  options.sparsification = false;
  const Schedule schedule = make_schedule("sa++/imagenet", options, 1000);
  const auto& phases = schedule.phases();
  EXPECT_TRUE(begins(schedule, R).empty());
  EXPECT_EQ(phases[1].end - phases[1].begin, 50);
  EXPECT_EQ(phases[2].end - phases[2].begin, 50);
  EXPECT_EQ(phases[13].phase, S);
  EXPECT_EQ(phases[13].end - phases[13].begin, 75);
  EXPECT_EQ(phases[14].phase, D);
}

TEST(Schedule, EveryScheduleCoversAllStepsOnce) {
  for (const ScheduleRow& row : schedules()) {
    for (const int64_t steps : {1, 2, 7, 100, 2340, 99999}) {
      const Schedule schedule = make_schedule(std::string(row.name), {}, steps);
      int64_t at = 0;
      for (const PhaseSpan& span : schedule.phases()) {
        EXPECT_EQ(span.begin, at) << row.name;
        EXPECT_GT(span.end, span.begin);
        at = span.end;
      }
      EXPECT_EQ(at, steps) << row.name;
      for (int64_t step = 0; step < std::min<int64_t>(steps, 500); ++step) {
        const Moment moment = schedule.at(step);
        const PhaseSpan& span = schedule.phases()[static_cast<size_t>(moment.index)];
        EXPECT_TRUE(span.begin <= step && step < span.end);
        EXPECT_EQ(moment.phase, span.phase);
      }
    }
  }
}

TEST(Schedule, EndsSparseWhereItPrunes) {
  for (const ScheduleRow& row : schedules()) {
    EXPECT_EQ(row.shares({}).back().phase, row.name == "dense" ? D : S) << row.name;
  }
}

TEST(Schedule, RampFollowsTheFormula) {
  for (const double c : {2.0, 4.0, 8.0}) {
    for (const double t : {0.0, 0.25, 0.5, 1.0}) {
      const double expected = 0.9 * (1 - std::exp(-c * t)) / (1 - std::exp(-c));
      EXPECT_NEAR(ramp_sparsity(Ramp::kExponential, c, t, 0.9), expected, 1e-15) << c << " " << t;
    }
  }
  EXPECT_DOUBLE_EQ(ramp_sparsity(Ramp::kExponential, 4, 1, 0.9), 0.9);
  EXPECT_NEAR(ramp_sparsity(Ramp::kExponential, 4, 0.5, 0.9), 0.792717, 1e-6);
  EXPECT_NEAR(ramp_sparsity(Ramp::kExponential, 2, 0.25, 0.8), 0.364043, 1e-6);
  EXPECT_NEAR(ramp_sparsity(Ramp::kExponential, 8, 0.25, 0.8), 0.691964, 1e-6);
  EXPECT_DOUBLE_EQ(ramp_sparsity(Ramp::kExponential, 0, 0.3, 0.9), 0.27);
  EXPECT_DOUBLE_EQ(ramp_sparsity(Ramp::kPolynomial, 3, 0.5, 0.8), 0.7);
}

TEST(Schedule, RejectsWhatMakesNoSense) {
  EXPECT_THROW(make_schedule("nope", {}, 10), Error);
  EXPECT_THROW(make_schedule("one-shot", {}, 0), Error);
  ScheduleOptions options;
  options.dense_fraction = 1.5;
  EXPECT_THROW(make_schedule("one-shot", options, 10), Error);
  options = {};
  options.cycle = {0, 0, 0};
  EXPECT_THROW(make_schedule("sa++/ctr", options, 10), Error);
}

}  // namespace
}  // namespace hewn::prune
