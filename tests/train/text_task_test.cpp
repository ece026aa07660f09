// Characters of a text: loss and metrics over all positions, against plain loops.
#include "hewn/train/tasks/text_task.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hewn::train {
namespace {

struct Plain {
  double loss = 0;
  int64_t right = 0;
};

/// Sums over rows and positions.
Plain plainly(const at::Tensor& output, const at::Tensor& target) {
  Plain out;
  for (int64_t n = 0; n < target.size(0); ++n) {
    for (int64_t t = 0; t < target.size(1); ++t) {
      double sum = 0;
      int64_t best = 0;
      for (int64_t s = 0; s < output.size(2); ++s) {
        sum += std::exp(output[n][t][s].item<double>());
        if (output[n][t][s].item<double>() > output[n][t][best].item<double>()) best = s;
      }
      const int64_t wanted = target[n][t].item<int64_t>();
      out.loss += std::log(sum) - output[n][t][wanted].item<double>();
      out.right += best == wanted ? 1 : 0;
    }
  }
  return out;
}

TEST(TextTask, LossAndMetricsCountEveryPosition) {
  at::manual_seed(4);
  const at::Tensor output = at::randn({6, 5, 7});
  const at::Tensor target = at::randint(7, {6, 5}, at::kLong);
  const Plain expected = plainly(output, target);
  ASSERT_GT(expected.right, 0);
  const auto task = make_task(data::Kind::kText, 0);
  EXPECT_TRUE(task->has_right_answers());
  EXPECT_NEAR(task->loss(output, target).item<double>(), expected.loss / 30, 1e-5);
  EXPECT_EQ(task->correct(output, target).item<int64_t>(), expected.right);
  const auto meter = task->meter();
  meter->add(output.narrow(0, 0, 4), target.narrow(0, 0, 4));
  meter->add(output.narrow(0, 4, 2), target.narrow(0, 4, 2));
  const run::Metrics got = meter->result();
  EXPECT_EQ(got.size(), 3U);
  EXPECT_NEAR(got.at("loss"), expected.loss / 30, 1e-5);
  EXPECT_NEAR(got.at("bpc"), expected.loss / 30 / std::log(2), 1e-5);
  EXPECT_NEAR(got.at("accuracy"), 100.0 * static_cast<double>(expected.right) / 30, 1e-9);
}

TEST(TextTask, SmoothsInTrainingAlone) {
  const at::Tensor output = at::tensor({4.0F, 0.0F, 0.0F, 0.0F}).reshape({1, 2, 2});
  const at::Tensor target = at::zeros({1, 2}, at::kLong);
  const auto task = make_task(data::Kind::kText, 0.2);
  EXPECT_GT(task->loss(output, target).item<double>(),
            make_task(data::Kind::kText, 0)->loss(output, target).item<double>() + 0.1);
  const auto meter = task->meter();
  meter->add(output, target);
  EXPECT_NEAR(meter->result().at("loss"), (std::log1p(std::exp(-4.0)) + std::log(2)) / 2, 1e-5);
}

TEST(TextTask, LearnsFromATeacherAtEveryPosition) {
  at::manual_seed(5);
  const at::Tensor said = at::randn({3, 4, 6});
  const at::Tensor wanted = at::randn({3, 4, 6});
  const auto task = make_task(data::Kind::kText, 0.1);
  EXPECT_EQ(task->usual_temperature(), 4);
  const at::Tensor p = (wanted / 2).softmax(2).to(at::kDouble);
  const at::Tensor q = (said / 2).softmax(2).to(at::kDouble);
  const double sum = 4 * (p * (p.log() - q.log())).sum().item<double>() / 12;
  EXPECT_NEAR(task->distil(said, wanted, 2).item<double>(), sum, 1e-5);
}

}  // namespace
}  // namespace hewn::train
