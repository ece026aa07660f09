// Channels that no output depends on: gone from all layers that share them, with the same outputs.
#include "hewn/flow/shrink/shrink.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/network.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;

/// Networks with random weights of which blocks are zero.
class Maker {
 public:
  Maker(uint64_t seed, int64_t block, double zeros) : seed_(seed), block_(block), zeros_(zeros) {}

  Tensor numbers(const Dims& dims, double shift = 0) {
    Tensor out(Spec{Type::kFloat, dims});
    for (float& x : out.values<float>()) x = static_cast<float>(uniform() * 2 - 1 + shift);
    return out;
  }
  /// outputs x channels x taps; rows and columns of blocks go as a whole now and then.
  Tensor weight(const Dims& dims) {
    Tensor out = numbers(dims);
    const int64_t taps = count(dims) / (dims[0] * dims[1]);
    std::map<std::pair<int64_t, int64_t>, bool> gone;
    for (int64_t j = 0; j < dims[0]; ++j) {
      for (int64_t c = 0; c < dims[1]; ++c) {
        const std::pair<int64_t, int64_t> rows{j / block_, -1};
        const std::pair<int64_t, int64_t> columns{-1, c / block_};
        if (!gone.contains(rows)) gone[rows] = uniform() < zeros_;
        if (!gone.contains(columns)) gone[columns] = uniform() < zeros_;
        if (!gone[rows] && !gone[columns]) continue;
        for (int64_t t = 0; t < taps; ++t)
          out.values<float>()[static_cast<size_t>((j * dims[1] + c) * taps + t)] = 0;
      }
    }
    return out;
  }
  int32_t conv(const std::string& name, int32_t in, const Dims& dims, int64_t pad, double shift) {
    return to.node("Conv", name,
                   {in, to.constant(name + ".weight", weight(dims)),
                    to.constant(name + ".bias", numbers({dims[0]}, shift))},
                   {{"kernel_shape", List{dims[2], dims[3]}}, {"pads", List(4, pad)}});
  }
  int32_t gemm(const std::string& name, int32_t in, int64_t inputs, int64_t outputs) {
    return to.node("Gemm", name,
                   {in, to.constant(name + ".weight", weight({outputs, inputs})),
                    to.constant(name + ".bias", numbers({outputs}))},
                   {{"transB", int64_t{1}}});
  }
  int32_t relu(int32_t in) { return to.node("Relu", "", {in}); }

  Composer to;

 private:
  double uniform() { return unit(draw(seed_, Stream::kInit, 0, next_++)[0]); }

  uint64_t seed_;
  uint64_t next_ = 0;
  int64_t block_;
  double zeros_;
};

Graph rows_graph(Maker& make) {
  int32_t x = make.to.input("x", {Type::kFloat, {-1, 21}});
  x = make.relu(make.gemm("a", x, 21, 37));
  x = make.relu(make.gemm("b", x, 37, 16));
  x = make.gemm("c", x, 16, 5);
  return make.to.finish(x, "y", {Type::kFloat, {-1, 5}});
}

/// Images with a residual sum, pools and a flat end.
Graph image_graph(Maker& make) {
  int32_t x = make.to.input("x", {Type::kFloat, {-1, 3, 8, 8}});
  x = make.relu(make.conv("stem", x, {18, 3, 3, 3}, 1, 0));
  x = make.to.node("MaxPool", "", {x}, {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}});
  int32_t y = make.relu(make.conv("in", x, {11, 18, 1, 1}, 0, 0));
  y = make.conv("out", y, {18, 11, 3, 3}, 1, -0.5);
  x = make.relu(make.to.node("Add", "", {x, y}));
  x = make.relu(make.conv("last", x, {13, 18, 3, 3}, 1, -0.5));
  x = make.to.node("Flatten", "", {x}, {{"axis", int64_t{1}}});
  x = make.gemm("c", x, 13 * 16, 4);
  return make.to.finish(x, "y", {Type::kFloat, {-1, 4}});
}

/// As transformers have them: the channels are last.
Graph token_graph(Maker& make) {
  int32_t x = make.to.input("x", {Type::kFloat, {-1, 3, 7}});
  x = make.to.node("MatMul", "a", {x, make.to.constant("a", make.weight({7, 24}))});
  x = make.to.node("Add", "", {x, make.to.constant("a.bias", make.numbers({24}, -0.5))});
  x = make.relu(x);
  x = make.to.node("MatMul", "b", {x, make.to.constant("b", make.weight({24, 6}))});
  return make.to.finish(x, "y", {Type::kFloat, {-1, 3, 6}});
}

void expect_same_outputs(const Graph& before, const Graph& after, const Dims& shape, Maker& make) {
  const Tensor input = make.numbers(shape);
  const Tensor expected = evaluate(before, {input})[0];
  for (const Tensor& got : {evaluate(after, {input})[0], Network(after).run({input})[0]}) {
    ASSERT_EQ(got.spec(), expected.spec());
    for (size_t i = 0; i < expected.values<float>().size(); ++i) {
      const float one = expected.values<float>()[i];
      ASSERT_NEAR(got.values<float>()[i], one, 1e-4F * (1 + std::abs(one)));
    }
  }
}

int64_t weights_of(const Graph& graph) {
  int64_t out = 0;
  for (const auto& [value, tensor] : graph.constants)
    if (tensor.dims().size() > 1) out += tensor.elements();
  return out;
}

TEST(Shrink, OutputsStayWhatTheyAre) {
  std::set<std::string> cut;
  int64_t units = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const int64_t block = std::vector<int64_t>{1, 4, 5, 16}[seed % 4];
    Maker make(seed, block, seed % 3 == 0 ? 0.6 : 0.3);
    Graph graph = seed % 5 == 4 ? token_graph(make) : seed % 2 == 0 ? rows_graph(make) : image_graph(make);
    const Dims shape = seed % 5 == 4 ? Dims{2, 3, 7} : seed % 2 == 0 ? Dims{3, 21} : Dims{2, 3, 8, 8};
    const Graph before = graph;
    const Shrunk done = shrink(graph, block);
    SCOPED_TRACE(str("seed ", seed));
    expect_same_outputs(before, graph, shape, make);
    EXPECT_EQ(weights_of(before) - weights_of(graph), done.weights);
    for (const LayerCut& layer : done.layers)
      if (!layer.outputs.empty()) cut.insert(layer.layer);
    units += done.units;
    // What is gone is gone: nothing is left to take.
    EXPECT_EQ(shrink(graph, block).units, 0);
  }
  // All that can lose channels did so in one network or another, and the outputs never.
  EXPECT_EQ(cut, (std::set<std::string>{"a", "b", "in", "last", "out", "stem"}));
  EXPECT_GT(units, 100);
}

TEST(Shrink, NothingToTakeAndAllOfALayer) {
  Maker full(1, 4, 0.0);
  Graph graph = rows_graph(full);
  EXPECT_EQ(shrink(graph, 4).layers.size(), 0U);
  Maker none(2, 4, 1.0);
  graph = rows_graph(none);
  const Graph before = graph;
  const Shrunk done = shrink(graph, 4);
  expect_same_outputs(before, graph, {2, 21}, none);
  // A run of every layer stays, and its last one is the network's output.
  EXPECT_EQ(done.units, 37 - 4 + 16 - 4);
  ASSERT_EQ(done.layers.size(), 3U);
  EXPECT_EQ(done.layers[1].inputs.size(), 33U);
}

TEST(Shrink, RunsStayAligned) {
  Maker make(3, 4, 0.0);
  Composer& to = make.to;
  int32_t x = to.input("x", {Type::kFloat, {-1, 3}});
  Tensor first = make.numbers({10, 3});
  const List dead = {1, 4, 5, 6, 7, 8, 9};  // of runs of 4: one of the first, all of the second and the last
  for (const int64_t j : dead)
    for (int64_t i = 0; i < 3; ++i) first.values<float>()[static_cast<size_t>(3 * j + i)] = 0;
  x = to.node("Gemm", "a", {x, to.constant("w", first), to.constant("b", make.numbers({10}))},
              {{"transB", int64_t{1}}});
  x = make.gemm("c", x, 10, 2);
  Graph graph = to.finish(x, "y", {Type::kFloat, {-1, 2}});
  const Graph before = graph;
  const Shrunk done = shrink(graph, 4);
  ASSERT_EQ(done.layers.size(), 2U);
  EXPECT_EQ(done.layers[0].outputs, (List{4, 5, 6, 7, 8, 9}));
  expect_same_outputs(before, graph, {2, 3}, make);
}

}  // namespace
}  // namespace hewn::flow
