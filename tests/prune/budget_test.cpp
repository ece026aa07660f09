#include "hewn/prune/budget.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/prune/plan.h"

namespace hewn::prune {
namespace {

std::vector<WeightShape> weights() {
  return {{"early", {64, 32, 3, 3}, {288, 64, {}}, 1024},
          {"late", {256, 128, 3, 3}, {1152, 256, {}}, 16},
          {"head", {10, 256}, {256, 10, {}}, 1}};
}

Plan plan_for(const std::string& budget, double sparsity = 0.9) {
  PlanOptions options{{16, 16}, sparsity, 50, {"*"}};
  options.budget = parse_budget(budget);
  return make_plan(weights(), options);
}

TEST(Budget, IsReadAndWritten) {
  for (const char* text : {"uniform", "erk", "global", "bytes=0.1", "flops=0.15", "ms=4"}) {
    EXPECT_EQ(to_string(parse_budget(text)), text);
  }
  for (const char* bad :
       {"", "bytes", "uniform=1", "bytes=0", "bytes=1", "flops=-1", "ms=0", "ms=x", "size=3"}) {
    EXPECT_THROW(parse_budget(bad), Error) << bad;
  }
}

TEST(Budget, ErkKeepsMoreOfSmallLayersAndTheSameInAll) {
  const std::vector<double> densities = erk_densities({{64, 32, 3, 3}, {256, 128, 3, 3}}, 0.1);
  EXPECT_NEAR(densities[0] / densities[1], (102.0 / 18432) / (390.0 / 294912), 1e-9);
  EXPECT_NEAR(densities[0] * 18432 + densities[1] * 294912, 0.1 * (18432 + 294912), 1e-6);
  // A layer that would keep more than itself is full, and the rest goes to the others.
  const std::vector<double> full = erk_densities({{4, 4}, {512, 512}}, 0.5);
  EXPECT_EQ(full[0], 1);
  EXPECT_NEAR(full[1] * 512 * 512 + 16, 0.5 * (512 * 512 + 16), 1e-6);
  const Plan plan = plan_for("erk");
  EXPECT_GT(plan.layers[0].realised_sparsity(), 0);
  EXPECT_LT(plan.layers[0].realised_sparsity(), plan.layers[1].realised_sparsity());
}

TEST(Budget, BytesAreThoseOfTheFile) {
  const Plan plan = plan_for("bytes=0.2");
  int64_t spent = 0;
  int64_t dense = 0;
  for (const LayerPlan& layer : plan.layers) {
    dense += 4 * layer.elements();
    spent += layer.pruned ? sparse_bytes(layer.grid, 0, 0) : 4 * layer.elements();
  }
  EXPECT_EQ(plan.limit, dense / 5 - spent);
  EXPECT_FALSE(plan.layers[2].pruned);
  const LayerPlan& late = plan.layers[1];
  EXPECT_EQ(late.cost.of_block(late.grid, 0), 4 * 256 + 4);
}

TEST(Budget, FlopsCountPositions) {
  const Plan plan = plan_for("flops=0.2");
  const LayerPlan& early = plan.layers[0];
  EXPECT_EQ(early.cost.of_block(early.grid, 0), 256 * 1024);
  EXPECT_EQ(plan.limit, (288 * 64 * 1024 + 1152 * 256 * 16 + 2560) / 5 - 2560);
  std::vector<WeightShape> unknown = weights();
  unknown[0].positions = 0;
  PlanOptions options{{16, 16}, 0.9, 50, {"*"}};
  options.budget = parse_budget("flops=0.2");
  EXPECT_THROW(make_plan(unknown, options), Error);
}

TEST(Budget, TimesAreOfTheseLayers) {
  PlanOptions options{{16, 16}, 0.9, 50, {"*"}};
  options.budget = parse_budget("ms=4");
  const std::vector<LayerTimes> good = {
      {"early", 5, 0.5, 0.01, 72, 1024}, {"late", 8, 0.5, 0.005, 1152, 16}, {"head", 0.5, 0, 0, 16, 1}};
  options.times = good;
  const Plan plan = make_plan(weights(), options);
  EXPECT_EQ(plan.layers[0].positions, 1024);
  EXPECT_EQ(plan.layers[1].cost.of_kept(3, 0), 515'000'000);
  for (int64_t LayerTimes::*field : {&LayerTimes::blocks, &LayerTimes::positions}) {
    options.times = good;
    options.times[1].*field += 1;
    EXPECT_THROW(make_plan(weights(), options), Error);
  }
  options.times = good;
  options.times.push_back({"other", 1, 0, 1});
  EXPECT_THROW(make_plan(weights(), options), Error);
}

TEST(Budget, LimitsThatCannotBeMetAreRefused) {
  EXPECT_THROW(plan_for("bytes=0.0001"), Error);
  EXPECT_THROW(plan_for("flops=0.00001"), Error);
  EXPECT_THROW(plan_for("ms=4"), Error);  // nobody said what layers cost
  PlanOptions options{{16, 16}, 0.9, 50, {"*"}};
  options.budget = parse_budget("ms=4");
  options.times = {{"early", 5, 0.5, 0.01}, {"late", 8, 0.5, 0.005}, {"head", 0.5, 0, 0}};
  const Plan plan = make_plan(weights(), options);
  EXPECT_EQ(plan.limit, int64_t{2'500'000'000});  // picoseconds: 4 ms less two fixed parts and the head
  EXPECT_EQ(plan.layers[0].cost.of_block(plan.layers[0].grid, 3), 10'000'000);
  options.budget = parse_budget("ms=400");
  EXPECT_THROW(make_plan(weights(), options), Error);  // the dense network is as fast
}

}  // namespace
}  // namespace hewn::prune
