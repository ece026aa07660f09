#include "hewn/train/learning_rate.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

TEST(LearningRate, CosineWithWarmUp) {
  const LearningRate rate{RateShape::kCosine, 0.1, 0, 0.1, 100};
  EXPECT_GT(rate.at(0), 0);
  for (int64_t step = 1; step <= 10; ++step) EXPECT_GT(rate.at(step), rate.at(step - 1));
  EXPECT_DOUBLE_EQ(rate.at(10), 0.1);
  for (int64_t step = 11; step < 100; ++step) EXPECT_LT(rate.at(step), rate.at(step - 1));
  EXPECT_DOUBLE_EQ(rate.at(55), 0.05);
  EXPECT_LT(rate.at(99), 1e-4);
}

TEST(LearningRate, ExponentialAndConstant) {
  const LearningRate fall{RateShape::kExponential, 2e-2, 3e-4, 0, 1000};
  EXPECT_DOUBLE_EQ(fall.at(0), 2e-2);
  EXPECT_NEAR(fall.at(500), 2.449e-3, 1e-6);
  EXPECT_NEAR(fall.at(1000), 3e-4, 1e-12);
  const LearningRate flat{RateShape::kConstant, 0.3, 0, 0, 10};
  EXPECT_DOUBLE_EQ(flat.at(9), 0.3);
  EXPECT_THROW(parse_rate_shape("linear"), Error);
}

}  // namespace
}  // namespace hewn::train
