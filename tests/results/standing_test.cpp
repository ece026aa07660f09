// The rule of winning.
#include "hewn/results/standing.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/results/metric.h"

namespace hewn::results {
namespace {

Sample sample(const std::vector<double>& values) {
  Sample out;
  for (const double value : values) out.add(static_cast<int64_t>(out.size()), value);
  return out;
}

TEST(Standing, TheBestMeanWinsInTheDirectionOfTheMetric) {
  const std::vector<Sample> samples = {sample({80, 80.5}), sample({90, 92}), sample({85, 86})};
  const Standing accuracy = judge("accuracy", samples);
  EXPECT_EQ(accuracy.winner(), 1U);
  EXPECT_EQ(accuracy.second, 2U);
  EXPECT_DOUBLE_EQ(accuracy.margin, 5.5);
  EXPECT_EQ(accuracy.verdict, Verdict::kClear);
  EXPECT_EQ(judge("loss", samples).winner(), 0U);
  const Standing calibration = judge("calibration", {sample({0.98}), sample({1.001})});
  EXPECT_EQ(calibration.winner(), 1U);
  EXPECT_NEAR(calibration.margin, 0.019, 1e-12);
}

TEST(Standing, ALeadWithinTwoStandardErrorsIsNoise) {
  EXPECT_EQ(judge("accuracy", {sample({90, 94}), sample({91, 94.5})}).verdict, Verdict::kWithinNoise);
  EXPECT_EQ(judge("accuracy", {sample({90, 94}), sample({99})}).verdict, Verdict::kOneSeed);
  EXPECT_EQ(judge("accuracy", {sample({90, 94})}).verdict, Verdict::kAlone);
  EXPECT_FALSE(judge("accuracy", {sample({90, 94})}).second);
}

TEST(Standing, NobodyWinsATieAndRoundingDoesNotBreakIt) {
  const Standing tie = judge("loss", {sample({0.1, 0.2, 0.3}), sample({0.9}), sample({0.3, 0.2, 0.1})});
  EXPECT_NE(sample({0.1, 0.2, 0.3}).mean(), sample({0.3, 0.2, 0.1}).mean());
  EXPECT_EQ(tie.verdict, Verdict::kTie);
  EXPECT_FALSE(tie.winner());
  EXPECT_TRUE(tie.is_best(0));
  EXPECT_FALSE(tie.is_best(1));
  EXPECT_TRUE(tie.is_best(2));
  EXPECT_EQ(tie.second, 2U);
  EXPECT_EQ(tie.margin, 0);
}

TEST(Sample, ASeedCountsOnce) {
  Sample twice = sample({1, 3});
  twice.add(0, 100);
  EXPECT_EQ(twice.values(), (std::vector<double>{1, 3}));
}

TEST(Metric, DigitsAndDirections) {
  EXPECT_EQ(value_text("accuracy", 88.4251), "88.43");
  EXPECT_EQ(value_text("loss", 0.40649), "0.4065");
  EXPECT_EQ(difference_text("accuracy", 0.651), "+0.65");
  EXPECT_EQ(probability_text(0.00049), "0.00049");
  EXPECT_TRUE(larger_is_better("auc"));
  EXPECT_FALSE(larger_is_better("loss"));
  EXPECT_TRUE(larger_is_better("r2"));
  EXPECT_FALSE(larger_is_better("rmse"));
  EXPECT_FALSE(larger_is_better("bpc"));
  EXPECT_EQ(metrics_of(answers_with({"accuracy", "bpc", "loss"})).front(), "bpc");
  EXPECT_THROW(larger_is_better("calibration"), Error);
  EXPECT_EQ(value_text("rmse", 12345.678), "12346");
  EXPECT_EQ(value_text("rmse", 0.000123456), "0.00012346");
  EXPECT_EQ(judge("rmse", {sample({3, 4}), sample({1, 2})}).winner(), 1U);
  EXPECT_EQ(judge("r2", {sample({0.3, 0.4}), sample({0.1, 0.2})}).winner(), 0U);
  EXPECT_EQ(numbers_of(Json{{"loss", nullptr}, {"auc", 0.5}}), (std::map<std::string, double>{{"auc", 0.5}}));
}

}  // namespace
}  // namespace hewn::results
