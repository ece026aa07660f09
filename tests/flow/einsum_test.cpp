#include "hewn/flow/passes/einsum.h"

#include <gtest/gtest.h>

#include "hewn/flow/op/product/equation.h"
#include "tests/flow/call.h"
#include "tests/flow/draft.h"

namespace hewn::flow {
namespace {

Tensor einsum(const std::string& equation, const std::vector<std::optional<Tensor>>& inputs) {
  return Single{.op = "Einsum", .attributes = {{"equation", equation}}, .inputs = inputs}.run().at(0);
}

/// Of an input and a constant; what the operator gives, and what the network makes of it.
std::vector<std::string> expect_same_product(const std::string& equation, const Dims& a, const Dims& b,
                                             const Dims& out) {
  Draft draft(a);
  const int32_t product = draft.add("Einsum", {draft.graph.inputs[0].value, draft.constant(noise(b, 2))},
                                    {{"equation", equation}});
  draft.output(product, out);
  expect_same(draft.graph, noise(a, 1));
  spell_einsums(draft.graph);
  std::vector<std::string> ops;
  for (const Node& node : draft.graph.nodes) ops.push_back(node.op);
  return ops;
}

using Ops = std::vector<std::string>;

TEST(Einsum, OfAttentionIsAProductOfMatrices) {
  EXPECT_EQ(expect_same_product("bhid,bhjd->bhij", {2, 3, 5, 4}, {2, 3, 6, 4}, {2, 3, 5, 6}),
            (Ops{"Transpose", "MatMul"}));
  EXPECT_EQ(expect_same_product("bhij,bhjd->bihd", {2, 3, 5, 4}, {2, 3, 4, 6}, {2, 5, 3, 6}),
            (Ops{"MatMul", "Transpose"}));
  EXPECT_EQ(expect_same_product("B G H I D, B G H J D -> B G H I J", {1, 2, 2, 3, 4}, {1, 2, 2, 5, 4},
                                {1, 2, 2, 3, 5}),
            (Ops{"Transpose", "MatMul"}));
}

TEST(Einsum, OfLinearLayersIsAProductOfMatrices) {
  EXPECT_EQ(expect_same_product("bld,dk->blk", {2, 3, 4}, {4, 5}, {2, 3, 5}), (Ops{"MatMul"}));
  EXPECT_EQ(expect_same_product("bti,oi->bto", {2, 3, 4}, {5, 4}, {2, 3, 5}), (Ops{"Transpose", "MatMul"}));
  EXPECT_EQ(expect_same_product("ti,boi->tbo", {3, 4}, {2, 5, 4}, {3, 2, 5}),
            (Ops{"Transpose", "MatMul", "Transpose"}));
}

TEST(Einsum, RepeatsMatricesForDimensionsOfOneSide) {
  EXPECT_EQ(expect_same_product("bhld,lrd->bhlr", {2, 3, 5, 4}, {5, 6, 4}, {2, 3, 5, 6}),
            (Ops{"Transpose", "Transpose", "MatMul", "Transpose"}));
}

TEST(Einsum, OfAnythingElseStaysWhatItIs) {
  EXPECT_EQ(expect_same_product("ij,ij->ij", {3, 4}, {3, 4}, {3, 4}), (Ops{"Einsum"}));
  EXPECT_EQ(expect_same_product("bij,kl->bk", {2, 3, 4}, {5, 6}, {2, 5}), (Ops{"Einsum"}));
  EXPECT_EQ(expect_same_product("bii,i->b", {2, 3, 3}, {3}, {2}), (Ops{"Einsum"}));
  EXPECT_EQ(expect_same_product("...i,i...->...i", {2, 3}, {3, 2}, {2, 3}), (Ops{"Einsum"}));
  EXPECT_EQ(expect_same_product("bik,jlk->bijl", {2, 3, 4}, {5, 6, 4}, {2, 3, 5, 6}), (Ops{"Einsum"}));
}

TEST(Einsum, WithoutAnArrowKeepsWhatIsThereOnce) {
  const Equation equation = read_equation("bca,ab...");
  EXPECT_EQ(equation.output.behind, "c");
  EXPECT_TRUE(equation.output.open);
  EXPECT_EQ(einsum("ba,ac", {noise({2, 3}, 1), noise({3, 5}, 2)}).dims(), (Dims{2, 5}));
}

TEST(Einsum, SaysWhatIsWrong) {
  const auto ask_two = [](const std::string& equation) {
    einsum(equation, {noise({2, 3}, 1), noise({3, 5}, 2)});
  };
  for (const char* bad :
       {"ij,jk->ii", "ij,jk->x", "ij,jk->...", "i1,jk", "ij,jk->i->k", "......,jk", "ij,jk.", "->,"})
    EXPECT_THROW(ask_two(bad), Error) << bad;
  EXPECT_THROW(ask_two("ij"), Error);
  EXPECT_THROW(ask_two("ij,jkl"), Error);
  EXPECT_THROW(ask_two("ij,ik"), Error);
  EXPECT_THROW(ask_two("ijk...,jk"), Error);
  const Tensor wide(Spec{Type::kBool, {2}});
  EXPECT_THROW(einsum("i", {wide}), Error);
}

TEST(Einsum, RefusesMoreThanEndsInADay) {
  const Tensor long_vector(Spec{Type::kFloat, {1 << 21}});
  EXPECT_THROW(einsum("a,b->", {long_vector, long_vector}), Error);
}

}  // namespace
}  // namespace hewn::flow
