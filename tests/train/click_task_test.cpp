#include "hewn/train/tasks/click_task.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::train {
namespace {

/// Every pair of a click and none, one by one.
double slow_area(const std::vector<float>& scores, const std::vector<float>& clicked) {
  double wins = 0;
  double pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (clicked[i] < 0.5F || clicked[j] > 0.5F) continue;
      pairs += 1;
      wins += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return wins / pairs;
}

TEST(Auc, EqualsTheCountOverAllPairsWithTies) {
  for (const uint32_t distinct : {2U, 10U, 100000U}) {
    std::vector<float> scores, clicked;
    for (uint64_t i = 0; i < 300; ++i) {
      const auto words = draw(3, Stream::kPattern, distinct, i);
      scores.push_back(static_cast<float>(below(words[0], distinct)));
      clicked.push_back(unit(words[1]) < 0.3 ? 1.0F : 0.0F);
    }
    EXPECT_NEAR(area_under_curve(scores, clicked), slow_area(scores, clicked), 1e-12);
  }
}

TEST(Auc, KnowsItsEnds) {
  const std::vector<float> scores = {1, 2, 3, 4};
  EXPECT_EQ(area_under_curve(scores, std::vector<float>{0, 0, 1, 1}), 1);
  EXPECT_EQ(area_under_curve(scores, std::vector<float>{1, 1, 0, 0}), 0);
  EXPECT_TRUE(std::isnan(area_under_curve(scores, std::vector<float>{1, 1, 1, 1})));
  EXPECT_TRUE(std::isnan(area_under_curve({}, {})));
}

TEST(ClickMeter, GathersOverBatches) {
  at::manual_seed(1);
  const at::Tensor logits = at::randn({100, 1});
  const at::Tensor clicked = at::bernoulli(at::full({100}, 0.4));
  const auto task = make_task(data::Kind::kClicks, 0);
  const auto meter = task->meter();
  meter->add(logits.narrow(0, 0, 33), clicked.narrow(0, 0, 33));
  meter->add(logits.narrow(0, 33, 67), clicked.narrow(0, 33, 67));
  const run::Metrics metrics = meter->result();
  const at::Tensor p = logits.flatten().sigmoid();
  const double loss = -(clicked * p.log() + (1 - clicked) * (1 - p).log()).mean().item<double>();
  EXPECT_NEAR(metrics.at("loss"), loss, 1e-6);
  EXPECT_NEAR(metrics.at("calibration"), (p.sum() / clicked.sum()).item<double>(), 1e-6);
  EXPECT_NEAR(metrics.at("accuracy"),
              100 * ((p > 0.5) == (clicked > 0.5)).to(at::kDouble).mean().item<double>(), 1e-9);
  EXPECT_NEAR(task->loss(logits, clicked).item<double>(), loss, 1e-6);
  EXPECT_THROW(make_task(data::Kind::kClicks, 0.1), Error);
}

}  // namespace
}  // namespace hewn::train
