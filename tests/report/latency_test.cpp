// What a page says of a comparison.
#include "hewn/report/latency.h"

#include <gtest/gtest.h>

namespace hewn::report {
namespace {

measure::Comparison made_up() {
  measure::Comparison out;
  out.density = 0.1;
  out.dense = {"at::linear", 8, ""};
  out.sparse = {"runtime", 1, ""};
  out.steadiness = {7, 7, {8, 7.9, 8.1}, ""};
  return out;
}

TEST(Latency, ASteadyComparisonHasAHeadline) {
  const Json json = latency_json(made_up());
  EXPECT_EQ(json["speedup"], 8);
  EXPECT_EQ(json["ideal_speedup"], 10);
  EXPECT_EQ(json["dense_baseline"], "at::linear");
  EXPECT_FALSE(json.contains("withheld"));
  EXPECT_FALSE(json.contains("beyond_products"));
}

TEST(Latency, ANoisyOneHasTheReasonInstead) {
  measure::Comparison noisy = made_up();
  noisy.steadiness.calm = 1;
  noisy.steadiness.withheld = "other programs held the processors in 6 of 7 rounds";
  const Json json = latency_json(noisy);
  EXPECT_TRUE(json["speedup"].is_null());
  EXPECT_EQ(json["withheld"], noisy.steadiness.withheld);
  EXPECT_EQ(json["calm_rounds"], 1);
}

TEST(Latency, MoreThanFewerProductsCanGiveHasAWord) {
  measure::Comparison odd = made_up();
  odd.dense.ms = 57.7;
  EXPECT_EQ(latency_json(odd)["beyond_products"], odd.beyond_products());
  EXPECT_FALSE(odd.beyond_products().empty());
}

}  // namespace
}  // namespace hewn::report
