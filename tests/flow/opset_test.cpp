// Forms that operators have only in opsets that ONNX's recorded tests (of Debian's version) do not reach.
#include <gtest/gtest.h>

#include "tests/flow/call.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(NewerOpsets, GeluHasTwoForms) {
  EXPECT_NEAR(values_of<float>(Single{"Gelu", {}, {floats({1})}, 20}.run()[0])[0], 0.841345F, 1e-6F);
  const Single by_tanh = {"Gelu", {{"approximate", std::string("tanh")}}, {floats({1})}, 20};
  EXPECT_NEAR(values_of<float>(by_tanh.run()[0])[0], 0.841192F, 1e-6F);
}

TEST(NewerOpsets, SplitMayEndWithAShorterPart) {
  const Single split = {"Split", {{"num_outputs", int64_t{2}}}, {ints({1, 2, 3})}, 18, 2};
  EXPECT_EQ(values_of<int64_t>(split.run()[0]), (List{1, 2}));
  EXPECT_EQ(values_of<int64_t>(split.run()[1]), (List{3}));
}

TEST(NewerOpsets, PadWrapsAndTakesAxes) {
  const Single pad = {"Pad",
                      {{"mode", std::string("wrap")}},
                      {tensor<int64_t>({1, 3}, {1, 2, 3}), ints({2, 1}), std::nullopt, ints({-1})},
                      19};
  EXPECT_EQ(pad.run()[0].dims(), (Dims{1, 6}));
  EXPECT_EQ(values_of<int64_t>(pad.run()[0]), (List{2, 3, 1, 2, 3, 1}));
}

TEST(NewerOpsets, ReductionsTakeAxesAsInput) {
  const Tensor in = tensor<float>({2, 2}, {1, 2, 3, 4});
  const Single mean = {"ReduceMean", {{"keepdims", int64_t{0}}}, {in, ints({0})}, 18};
  EXPECT_EQ(values_of<float>(mean.run()[0]), (Floats{2, 3}));
  const Single nothing = {"ReduceMax", {{"noop_with_empty_axes", int64_t{1}}}, {in, ints({})}, 18};
  EXPECT_EQ(values_of<float>(nothing.run()[0]), (Floats{1, 2, 3, 4}));
  const Single any = {"ReduceMax", {{"keepdims", int64_t{0}}}, {tensor<bool>({2}, {false, true})}, 20};
  EXPECT_EQ(any.run()[0].type(), Type::kBool);
  EXPECT_TRUE(any.run()[0].values<bool>()[0]);
}

TEST(NewerOpsets, ScatterTakesTheLarger) {
  const Single scatter = {"ScatterND",
                          {{"reduction", std::string("max")}},
                          {ints({1, 5}), tensor<int64_t>({2, 1}, {0, 1}), ints({3, 4})},
                          18};
  EXPECT_EQ(values_of<int64_t>(scatter.run()[0]), (List{3, 5}));
}

TEST(NewerOpsets, ResizeKeepsTheRatio) {
  const Single resize = {"Resize",
                         {{"axes", List{1, 2}}, {"keep_aspect_ratio_policy", std::string("not_larger")}},
                         {zeros({1, 2, 4}), std::nullopt, std::nullopt, ints({6, 6})},
                         18};
  EXPECT_EQ(resize.run()[0].dims(), (Dims{1, 3, 6}));
}

TEST(NewerOpsets, GroupsAreNormalised) {
  const Single norm = {"GroupNormalization",
                       {{"num_groups", int64_t{1}}, {"epsilon", 0.0F}},
                       {tensor<float>({1, 2, 1}, {1, 3}), floats({2}), floats({1})},
                       18};
  EXPECT_EQ(values_of<float>(norm.run()[0]), (Floats{-1, 3}));
}

TEST(OlderOpsets, SoftmaxIsOverAllThatFollows) {
  const Single softmax = {"Softmax", {}, {zeros({1, 2, 2})}, 12};
  EXPECT_EQ(values_of<float>(softmax.run()[0]), (Floats{0.25F, 0.25F, 0.25F, 0.25F}));
}

}  // namespace
}  // namespace hewn::flow
