#include "hewn/prune/plan.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

std::vector<WeightShape> weights() {
  return {{"fc1", {1024, 784}, {784, 1024, {}}},
          {"fc2", {1024, 1024}, {1024, 1024, {}}},
          {"fc3", {10, 1024}, {1024, 10, {}}}};
}

TEST(Plan, SkipsLayersWithFewBlocks) {
  const Plan plan = make_plan(weights(), {{16, 16}, 0.9, 100, {"*"}});
  EXPECT_EQ(plan.layers_pruned(), 2);
  EXPECT_EQ(plan.layers[0].keep, 313);
  EXPECT_EQ(plan.layers[1].keep, 409);
  EXPECT_FALSE(plan.layers[2].pruned);
  EXPECT_EQ(plan.blocks_kept(), 722);
  EXPECT_EQ(plan.blocks_total(), 7232);
  EXPECT_EQ(make_plan(weights(), {{16, 16}, 0.9, 64, {"*"}}).layers_pruned(), 3);
}

TEST(Plan, TakesPatterns) {
  const Plan plan = make_plan(weights(), {{16, 16}, 0.9, 100, {"fc1"}});
  EXPECT_EQ(plan.layers_pruned(), 1);
  EXPECT_THROW(make_plan(weights(), {{16, 16}, 0.9, 100, {"conv*"}}), Error);
}

TEST(Plan, FollowsASupport) {
  const Plan plan = plan_of(weights(), {{"fc3", {{1024, 10, {8, 4}}, {1, 5}}}});
  EXPECT_EQ(plan.layers_pruned(), 1);
  EXPECT_EQ(plan.layers[2].keep, 2);
  EXPECT_EQ(plan.layers[0].why_dense, "not in the support");
  EXPECT_EQ(plan.options.block, (BlockShape{8, 4}));
  EXPECT_DOUBLE_EQ(plan.options.sparsity, 1 - 2.0 / 384);
  EXPECT_THROW(plan_of(weights(), {}), Error);
  EXPECT_THROW(plan_of(weights(), {{"fc4", {{1024, 10, {8, 4}}, {1}}}}), Error);
  EXPECT_THROW(plan_of(weights(), {{"fc3", {{10, 1024, {8, 4}}, {1}}}}), Error);
}

TEST(Plan, RejectsBadInput) {
  for (const double sparsity : {-0.1, 1.0, 1.5}) {
    EXPECT_THROW(make_plan(weights(), {{16, 16}, sparsity, 100, {"*"}}), Error);
  }
  EXPECT_THROW(make_plan(weights(), {{2048, 16}, 0.5, 100, {"*"}}), Error);
  EXPECT_THROW(make_plan({}, {{16, 16}, 0.5, 100, {"*"}}), Error);
}

}  // namespace
}  // namespace hewn::prune
