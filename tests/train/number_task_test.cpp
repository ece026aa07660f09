// Regression: its loss, and metrics in the target's own unit.
#include "hewn/train/tasks/number_task.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"
#include "tests/support/message.h"

namespace hewn::train {
namespace {

TEST(NumberTask, MetricsAreThoseOfAllRows) {
  at::manual_seed(2);
  const at::Tensor target = at::randn({50});
  const at::Tensor output = (target + 0.3 * at::randn({50})).unsqueeze(1);
  const auto task = make_task(data::Kind::kNumbers, 0, 250);
  const auto meter = task->meter();
  meter->add(output.narrow(0, 0, 20), target.narrow(0, 0, 20));
  meter->add(output.narrow(0, 20, 30), target.narrow(0, 20, 30));
  const run::Metrics got = meter->result();
  const double error = (output.flatten() - target).square().mean().item<double>();
  EXPECT_NEAR(got.at("loss"), error, 1e-6);
  EXPECT_NEAR(got.at("rmse"), 250 * std::sqrt(error), 1e-3);
  EXPECT_NEAR(got.at("r2"), 1 - error / target.var(0, false).item<double>(), 1e-6);
  EXPECT_EQ(got.size(), 3U);
  EXPECT_NEAR(task->loss(output, target).item<double>(), error, 1e-6);
}

TEST(NumberTask, HasNoRightAnswers) {
  const auto task = make_task(data::Kind::kNumbers, 0);
  EXPECT_FALSE(task->has_right_answers());
  EXPECT_EQ(task->correct(at::ones({4, 1}), at::ones({4})).item<int64_t>(), 0);
  EXPECT_TRUE(make_task(data::Kind::kClasses, 0)->has_right_answers());
  const auto meter = task->meter();
  meter->add(at::ones({4, 1}), at::ones({4}));
  EXPECT_TRUE(std::isnan(meter->result().at("r2")));  // nothing varies
  EXPECT_EQ(test::message_of([] { make_task(data::Kind::kNumbers, 0.1); }),
            "label-smoothing: is for classes; leave it out for regression");
}

}  // namespace
}  // namespace hewn::train
