// Plans against the graph evaluated node by node, over awkward shapes.
#include "hewn/flow/network.h"

#include <gtest/gtest.h>

#include "hewn/flow/samples.h"
#include "tests/flow/draft.h"

namespace hewn::flow {
namespace {

TEST(Network, ConvolutionsOfAllKinds) {
  struct Case {
    int64_t n, c, h, w, out, kernel, stride, pad, groups, dilation;
  };
  const std::vector<Case> cases = {
      {1, 1, 1, 1, 1, 1, 1, 0, 1, 1},   {2, 3, 9, 7, 5, 3, 1, 1, 1, 1},   {1, 16, 14, 14, 32, 3, 2, 1, 1, 1},
      {3, 8, 5, 5, 8, 3, 1, 1, 8, 1},   {2, 8, 11, 6, 8, 5, 2, 2, 8, 1},  {1, 4, 10, 10, 6, 3, 1, 0, 2, 1},
      {2, 4, 12, 12, 4, 3, 1, 2, 1, 2}, {1, 3, 23, 17, 8, 7, 2, 3, 1, 1}, {2, 6, 8, 8, 4, 1, 2, 0, 1, 1},
      {1, 4, 4, 4, 4, 1, 1, 1, 1, 1},   {2, 5, 7, 7, 3, 7, 1, 0, 1, 1},   {1, 4, 9, 9, 4, 3, 3, 1, 1, 1}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.kernel * 1000 + one.stride * 100 + one.pad * 10 + one.groups);
    Draft draft({one.n, one.c, one.h, one.w});
    int32_t y = draft.conv(0, one.c, one.out, one.kernel, one.stride, one.pad, one.groups, 0, one.dilation);
    y = draft.add("Relu", {y});
    draft.output(y, {1, 1, 1, 1});
    expect_same(draft.graph, noise({one.n, one.c, one.h, one.w}, 7));
  }
}

TEST(Network, SumsAreWrittenOverWhatNobodyNeedsAnyMore) {
  for (const bool needed : {false, true}) {
    for (const int64_t size : {1, 7, 20}) {
      Draft draft({2, 16, size, size});
      const int32_t x = draft.add("Relu", {draft.conv(0, 16, 32, 3, 1, 1)});
      // Two blocks, the second over the sum of the first; then one with a shortcut of its own.
      const int32_t a = draft.add("Add", {draft.conv(draft.conv(x, 32, 16, 3, 1, 1), 16, 32, 1, 1, 0), x});
      const int32_t b = draft.add("Add", {draft.conv(draft.conv(a, 32, 16, 1, 1, 0), 16, 32, 3, 1, 1), a});
      const int32_t y = draft.add("Relu", {b});
      const int32_t z = draft.add("Add", {draft.conv(y, 32, 48, 1, 1, 0), draft.conv(y, 32, 48, 3, 1, 1)});
      draft.output(z, {1, 48, size, size});
      if (needed) draft.output(draft.add("Add", {draft.conv(z, 48, 32, 1, 1, 0), x}), {1, 32, size, size});
      if (needed) draft.output(a, {1, 32, size, size});
      expect_same(draft.graph, noise({2, 16, size, size}, 5));
    }
  }
}

TEST(Network, PoolsWhoseWindowsReachFarBeyondTheImage) {
  constexpr int64_t kFar = int64_t{1} << 28;  // a line of it would be a gibibyte
  using List = std::vector<int64_t>;
  struct Case {
    List kernel, pads, strides, dilations;
  };
  const std::vector<Case> cases = {{{2, 3}, {0, 0, 0, 0}, {1, 1}, {1, 1}},
                                   {{3, 3}, {1, 1, 1, 1}, {2, 2}, {1, 1}},
                                   {{2, 4}, {1, 3, 0, 2}, {1, 3}, {1, 2}},
                                   {{1, 7}, {0, 6, 0, 6}, {1, 1}, {1, 1}},
                                   {{1, kFar}, {0, kFar - 1, 0, 0}, {1, 1}, {1, 1}},
                                   {{kFar, 1}, {kFar / 2, 0, kFar / 2, 0}, {1, 1}, {1, 1}}};
  for (const Case& one : cases) {
    for (const int64_t with_padding : {0, 1}) {
      for (const char* op : {"MaxPool", "AveragePool"}) {
        SCOPED_TRACE(std::string(op) + std::to_string(one.kernel[1]));
        std::map<std::string, Attribute> attributes = {
            {"kernel_shape", one.kernel}, {"pads", one.pads}, {"strides", one.strides}};
        const bool average = std::string(op) == "AveragePool";
        if (average) attributes["count_include_pad"] = with_padding;
        if (!average) attributes["dilations"] = one.dilations;
        if (average && one.dilations[1] != 1) continue;
        Draft draft({2, 3, 5, 11});
        draft.output(draft.add(op, {0}, attributes), {1, 3, 1, 1});
        expect_same(draft.graph, noise({2, 3, 5, 11}, 3));
      }
    }
  }
}

TEST(Network, AnOutputThatNobodyWantsMayBeTheFirst) {
  Draft draft({2, 3, 5, 4});
  draft.add("MaxPool", {0}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  const int32_t indices = draft.graph.add_value("indices");
  draft.graph.nodes.back().outputs = {kNone, indices};
  draft.graph.outputs.push_back({indices, {Type::kInt, {2, 3, 4, 3}}});
  const Tensor x = noise({2, 3, 5, 4}, 3);
  const Tensor expected = evaluate(draft.graph, {x})[0];
  const Tensor got = Network(draft.graph).run({x})[0];
  ASSERT_EQ(got.spec(), expected.spec());
  EXPECT_TRUE(std::equal(got.values<int64_t>().begin(), got.values<int64_t>().end(),
                         expected.values<int64_t>().begin()));
}

TEST(Network, SamplesWithoutNumbersHaveShapes) {
  Draft draft({2, 0, 3});
  draft.output(draft.add("Flatten", {0}, {{"axis", int64_t{-1}}}), {0, 3});
  EXPECT_EQ(Network(draft.graph).run({noise({2, 0, 3}, 1)})[0].dims(), (Dims{0, 3}));
}

TEST(Network, AResidualNetworkWithItsBorders) {
  for (const int64_t batch : {1, 2, 5}) {
    Draft draft({batch, 3, 15, 13});
    int32_t x = draft.add("Relu", {draft.conv(0, 3, 16, 7, 2, 3)});
    x = draft.add("MaxPool", {x},
                  {{"kernel_shape", std::vector<int64_t>{3, 3}},
                   {"strides", std::vector<int64_t>{2, 2}},
                   {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    const int32_t first = draft.add("Relu", {draft.conv(x, 16, 16, 3, 1, 1)});
    x = draft.add("Relu", {draft.add("Add", {draft.conv(first, 16, 16, 3, 1, 1), x})});
    const int32_t skip = draft.conv(x, 16, 32, 1, 2, 0);
    // Sigmoid leaves no zeros around the pixels: the next window must not see that.
    int32_t y = draft.add("Sigmoid", {draft.conv(x, 16, 32, 3, 2, 1)});
    y = draft.conv(y, 32, 32, 3, 1, 1);
    y = draft.add("Relu", {draft.add("Add", {skip, y})});
    const int32_t gate =
        draft.add("Sigmoid", {draft.conv(draft.add("GlobalAveragePool", {y}), 32, 32, 1, 1, 0)});
    y = draft.add("Mul", {y, gate});
    y = draft.add("AveragePool", {y}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
    y = draft.add("Flatten", {draft.add("GlobalAveragePool", {y})});
    y = draft.add("Gemm", {y, draft.constant(noise({10, 32}, 3)), draft.constant(noise({10}, 4))},
                  {{"transB", int64_t{1}}});
    draft.output(y, {1, 10});
    draft.output(x, {1, 16, 1, 1});
    expect_same(draft.graph, noise({batch, 3, 15, 13}, 9));
  }
}

TEST(Network, ActivationsBehindProducts) {
  for (const std::string op : {"HardSwish", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "SiLU"}) {
    SCOPED_TRACE(op);
    for (const int64_t groups : {1, 8}) {
      Draft draft({2, 8, 9, 7});
      const auto activate = [&](int32_t x) {
        if (op == "SiLU") return draft.add("Mul", {x, draft.add("Sigmoid", {x})});
        if (op != "Clip") return draft.add(op, {x});
        return draft.add(op, {x, draft.constant(tensor_of(-0.1F)), draft.constant(tensor_of(0.2F))});
      };
      const int32_t first = activate(draft.conv(0, 8, 8, 3, 1, 1, groups));
      int32_t y = activate(draft.add("Add", {draft.conv(first, 8, 8, 3, 1, 1, groups), first}));
      y = activate(draft.conv(draft.add("GlobalAveragePool", {y}), 8, 12, 1, 1, 0));
      draft.output(y, {1, 12, 1, 1});
      draft.output(first, {1, 8, 1, 1});
      expect_same(draft.graph, noise({2, 8, 9, 7}, 5));
      expect_same(draft.graph, noise({1, 8, 9, 7}, 6));
    }
  }
}

TEST(Network, TokensInAnotherShapeStayWhereTheyAre) {
  for (const int64_t batch : {1, 3}) {
    Draft draft({batch, 5, 16});
    const auto product = [&](int32_t x, uint32_t seed) {
      return draft.add("MatMul", {x, draft.constant(noise({16, 16}, seed))});
    };
    const auto turn = [&](int32_t x) {
      return draft.add("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    };
    const int32_t first = product(0, 1);
    int32_t y = turn(product(turn(first), 2));
    y = draft.add("Relu", {draft.add("Add", {y, first})});
    const std::vector<int64_t> flat = {-1, 16};
    y = product(draft.add("Reshape", {y, draft.constant(tensor_of(flat))}), 3);
    draft.output(y, {1, 16});
    draft.output(turn(first), {5, 1, 16});
    expect_same(draft.graph, noise({batch, 5, 16}, 4));
  }
}

TEST(Network, ChannelsAreJoinedCutAndShuffled) {
  Draft draft({2, 8, 6, 6});
  const int32_t a = draft.conv(0, 8, 8, 3, 1, 1);
  const int32_t b = draft.conv(0, 8, 4, 1, 1, 0);
  int32_t y = draft.add("Concat", {a, b}, {{"axis", int64_t{1}}});
  y = draft.add("Reshape", {y, draft.constant(tensor_of(std::vector<int64_t>{0, 2, 6, 6, 6}))});
  y = draft.add("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
  y = draft.add("Reshape", {y, draft.constant(tensor_of(std::vector<int64_t>{0, 12, 6, 6}))});
  const auto list = [&](int64_t number) { return draft.constant(tensor_of(std::vector<int64_t>{number})); };
  const int32_t part = draft.add("Slice", {y, list(3), list(9), list(1)});
  y = draft.conv(part, 6, 6, 3, 1, 1);
  draft.output(y, {1, 6, 6, 6});
  expect_same(draft.graph, noise({2, 8, 6, 6}, 1));
}

TEST(Network, TokensThroughATransformerLayer) {
  for (const int64_t batch : {1, 3}) {
    Draft draft({batch, 7, 24});
    const auto linear = [&](int32_t x, int64_t in, int64_t out, uint32_t seed) {
      const int32_t y = draft.add("MatMul", {x, draft.constant(noise({in, out}, seed, 0.3F))});
      return draft.add("Add", {y, draft.constant(noise({out}, seed + 1))});
    };
    const auto norm = [&](int32_t x) {
      return draft.add("LayerNormalization",
                       {x, draft.constant(noise({24}, 5)), draft.constant(noise({24}, 6))});
    };
    const int32_t x = norm(0);
    const auto heads = [&](int32_t value, std::vector<int64_t> order) {
      value = draft.add("Reshape", {value, draft.constant(tensor_of(std::vector<int64_t>{0, 0, 3, 8}))});
      return draft.add("Transpose", {value}, {{"perm", std::move(order)}});
    };
    const int32_t q = heads(linear(x, 24, 24, 10), {0, 2, 1, 3});
    const int32_t k = heads(linear(x, 24, 24, 20), {0, 2, 3, 1});
    const int32_t v = heads(linear(x, 24, 24, 30), {0, 2, 1, 3});
    const int32_t weights = draft.add("Softmax", {draft.add("MatMul", {q, k})}, {{"axis", int64_t{-1}}});
    int32_t y = draft.add("Transpose", {draft.add("MatMul", {weights, v})},
                          {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
    y = draft.add("Reshape", {y, draft.constant(tensor_of(std::vector<int64_t>{0, 0, 24}))});
    y = draft.add("Add", {linear(y, 24, 24, 40), x});
    const int32_t wide = draft.add("Gelu", {linear(norm(y), 24, 96, 50)});
    y = draft.add("Add", {y, linear(wide, 96, 24, 60)});
    // As torch writes attention: tokens first, batch and heads as one.
    y = draft.add("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    y = draft.add("Reshape", {y, draft.constant(tensor_of(std::vector<int64_t>{-1, 24}))});
    y = linear(y, 24, 24, 70);
    y = draft.add("Reshape", {y, draft.constant(tensor_of(std::vector<int64_t>{7, -1, 24}))});
    y = draft.add("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    draft.output(y, {1, 7, 24});
    const Tensor input = noise({batch, 7, 24}, 2);
    EXPECT_EQ(samples_are_apart(specialise(draft.graph, {input}), batch), batch > 1);
    expect_same(draft.graph, input);
  }
}

TEST(Network, BlocksOfZerosAreLeftOut) {
  Tensor weight = noise({64, 64, 3, 3}, 1);
  const auto values = weight.values<float>();
  for (size_t out = 0; out < 64; ++out) {
    for (size_t in = 0; in < 64; ++in) {
      for (size_t tap = 0; tap < 9; ++tap) {
        if ((out / 16 * 5 + in / 16 * 3 + tap) % 7 != 0) values[(out * 64 + in) * 9 + tap] = 0;
      }
    }
  }
  EXPECT_EQ(choose_blocks(weight, WeightKind::kConv, 1, 0).block, 16);
  EXPECT_EQ(choose_blocks(weight, WeightKind::kConv, 1, 8).block, 8);
  EXPECT_EQ(choose_blocks(noise({64, 64, 3, 3}, 1), WeightKind::kConv, 1, 0).block, 0);
  Draft draft({2, 64, 9, 9});
  const int32_t y =
      draft.add("Conv", {0, draft.constant(weight)}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  draft.output(y, {1, 64, 9, 9});
  expect_same(draft.graph, noise({2, 64, 9, 9}, 2));
}

}  // namespace
}  // namespace hewn::flow
