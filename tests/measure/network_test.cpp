// Whole networks: every dense way computes what the graph means, and comparisons add up.
#include "hewn/measure/network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/measure/dense_graph.h"
#include "tests/runtime/models.h"

namespace hewn::measure {
namespace {

using runtime::ModelData;

/// Output of a way, or nothing where this LibTorch cannot.
at::Tensor output_of(const ModelData& model, DenseGraph::Way way, const at::Tensor& samples) {
  const DenseGraph graph(model, way);
  try {
    return graph.run(graph.prepare(samples));
  } catch (const std::exception&) {
    return {};
  }
}

TEST(DenseGraph, EveryWayComputesTheGraph) {
  const at::NoGradGuard no_grad;
  int ran = 0;
  for (const auto& [name, graph] : runtime::sample_graphs()) {
    const ModelData model = runtime::with_weights(graph, {4, 4}, Pattern::kRandom);
    const runtime::Shape& shape = graph.nodes.front().shape;
    for (const int64_t batch : {1, 3}) {
      const std::vector<float> input = runtime::inputs_for(graph, batch, 5);
      const at::Tensor samples = at::tensor(input).view({batch, shape.channels, shape.height, shape.width});
      const at::Tensor before = samples.clone();
      const std::vector<float> expected = runtime::by_definition(model, input, batch);
      for (const DenseGraph::Way way : DenseGraph::ways(graph, batch)) {
        const at::Tensor out = output_of(model, way, samples);
        if (!out.defined()) continue;
        const at::Tensor got = out.contiguous();
        ASSERT_EQ(got.size(0), batch);
        EXPECT_LT(largest_difference({got.data_ptr<float>(), got.data_ptr<float>() + got.numel()}, expected),
                  1e-4)
            << name << ", " << DenseGraph(model, way).name();
        ++ran;
      }
      EXPECT_TRUE(samples.equal(before)) << name;  // others are still to read them
    }
  }
  EXPECT_GT(ran, 20);
}

TEST(Network, ComparisonAddsUp) {
  for (const auto& [name, graph] : runtime::sample_graphs()) {
    const ModelData model = runtime::with_weights(graph, {4, 4}, Pattern::kRandom);
    const NetworkFacts facts = facts_of(model);
    const Comparison c = compare(model, {2, 1, 0}, [](const at::Tensor&) {
      return std::vector<Contender>{{"cannot run", [] { throw Error("no"); }}};
    });
    EXPECT_EQ(c.density, facts.density);
    EXPECT_EQ(c.sparse.name, "runtime");
    EXPECT_GE(c.steadiness.rounds, 1);
    EXPECT_EQ(c.dense_candidates.back().missing, "no");
    for (const Candidate& candidate : c.dense_candidates) {
      EXPECT_TRUE(!candidate.missing.empty() || candidate.ms >= c.dense.ms) << candidate.name;
    }
  }
}

TEST(Network, FactsOfWhatIsKept) {
  runtime::Graph graph;
  graph.linear("b", graph.linear("a", graph.input({8, 1, 1}), 8), 4);
  ModelData model = runtime::with_weights(graph, {4, 4}, Pattern::kOne);
  NetworkFacts facts = facts_of(model);
  EXPECT_EQ(facts.kept_blocks, 2);
  EXPECT_EQ(facts.blocks, 6);
  EXPECT_DOUBLE_EQ(facts.density, 32.0 / 96);
  EXPECT_EQ(facts.dense_bytes, 4 * (64 + 8 + 32 + 4));
  EXPECT_EQ(facts.block, (BlockShape{4, 4}));
  EXPECT_DOUBLE_EQ(*facts.sparsity, 1 - 2.0 / 6);
  model = runtime::with_weights(graph, {4, 4}, Pattern::kFull);
  facts = facts_of(model);
  EXPECT_EQ(facts.density, 1);
  EXPECT_FALSE(facts.block || facts.sparsity);
}

TEST(Network, TablesAreBytesButNoProducts) {
  runtime::Graph graph;
  graph.linear("a", graph.embedding("e", graph.input({2, 1, 1}), {30, 5}, 4), 8);
  const ModelData model = runtime::with_weights(graph, {4, 4}, Pattern::kOne);
  const NetworkFacts facts = facts_of(model);
  EXPECT_EQ(facts.dense_bytes, 4 * (35 * 4 + 64 + 8));
  EXPECT_EQ(facts.blocks, 4);
  EXPECT_DOUBLE_EQ(facts.density, 0.25);
  EXPECT_EQ(compare(model, {3, 1, 0}).weight_bytes, 4 * (35 * 4 + 16));
}

TEST(Network, RefusesAWrongBatch) {
  const ModelData model =
      runtime::with_weights(runtime::sample_graphs().front().graph, {4, 4}, Pattern::kFull);
  EXPECT_THROW(compare(model, {0, 1, 0}), Error);
}

}  // namespace
}  // namespace hewn::measure
