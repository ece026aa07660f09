#include "hewn/refit/prune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/flow/evaluate.h"
#include "hewn/refit/calibration.h"
#include "hewn/refit/layers.h"
#include "tests/refit/networks.h"

namespace hewn::refit {
namespace {

using Batch = std::vector<flow::Tensor>;

std::vector<Batch> batches_for(const flow::Dims& dims, uint64_t seed, size_t count = 3) {
  std::vector<Batch> out;
  for (size_t i = 0; i < count; ++i) out.push_back({random_tensor(dims, seed * 100 + i)});
  return out;
}

Options options_for(Method method, BlockShape block = {4, 4}) {
  Options options;
  options.method = method;
  options.block = block;
  options.min_blocks = 1;
  return options;
}

double total_error(const Result& result) {
  double sum = 0;
  for (const LayerResult& layer : result.layers) sum += layer.error.value_or(0);
  return sum;
}

bool same_numbers(const flow::Tensor& a, const flow::Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.bytes(), b.bytes(), a.byte_count()) == 0;
}

flow::Graph one_product(uint64_t seed) {
  Chain chain({-1, 24});
  const int32_t weight = chain.constant("w", random_tensor({24, 12}, seed));
  const int32_t bias = chain.constant("b", random_tensor({12}, seed + 1));
  return chain.node("MatMul", {weight}).node("Add", {bias}).finish(2);
}

TEST(RefitPrune, KeepsAsManyBlocksAsAskedForAndZeroesTheOthers) {
  for (const Method method : {Method::kMagnitude, Method::kRefit, Method::kPursuit}) {
    flow::Graph graph = small_convnet(5);
    const Result result = prune_graph(graph, options_for(method, {4, 3}), batches_for({8, 4, 9, 9}, 1));
    const std::vector<Layer> layers = find_layers(graph);
    ASSERT_EQ(result.layers.size(), 3U);
    for (size_t i = 0; i < layers.size(); ++i) {
      const LayerBlocks& kept = result.layers[i].kept;
      EXPECT_EQ(kept.kept(), blocks_to_keep(kept.grid().blocks(), 0.5));
      const Matrix weight = weight_matrix(graph, layers[i]);
      const std::vector<uint8_t> flags = kept.flags();
      std::vector<int64_t> nonzero(flags.size(), 0);
      for (Index k = 0; k < weight.cols(); ++k) {
        for (Index r = 0; r < weight.rows(); ++r)
          nonzero[static_cast<size_t>(kept.grid().block_of(r, k))] += weight(r, k) != 0;
      }
      for (size_t b = 0; b < flags.size(); ++b) EXPECT_EQ(nonzero[b] > 0, flags[b] != 0) << i << " " << b;
    }
  }
}

TEST(RefitPrune, ErrorsThatAreReportedAreThoseOfTheNetwork) {
  for (const Method method : {Method::kMagnitude, Method::kRefit, Method::kPursuit}) {
    const flow::Graph whole = one_product(7);
    flow::Graph graph = whole;
    const std::vector<Batch> batches = batches_for({20, 24}, 3);
    const Result result = prune_graph(graph, options_for(method), batches);
    double error = 0;
    double norm = 0;
    for (const Batch& batch : batches) {
      const flow::Tensor expected = flow::evaluate(whole, batch)[0];
      const flow::Tensor got = flow::evaluate(graph, batch)[0];
      for (size_t i = 0; i < expected.values<float>().size(); ++i) {
        error += std::pow(expected.values<float>()[i] - got.values<float>()[i], 2);
        norm += std::pow(expected.values<float>()[i], 2);
      }
    }
    ASSERT_EQ(result.output_errors.size(), 1U);
    EXPECT_NEAR(result.output_errors[0].share, std::sqrt(error / norm), 1e-4);
    // The layer's own outputs come before the constant that is added to them.
    double product_norm = 0;
    const std::vector<Layer> layers = find_layers(whole);
    for (const Batch& batch : batches) {
      for (Index r = 0; r < 20; ++r) {
        Vector x(24);
        for (Index i = 0; i < 24; ++i) x(i) = batch[0].values<float>()[static_cast<size_t>(r * 24 + i)];
        product_norm += (weight_matrix(whole, layers[0]).transpose() * x).squaredNorm();
      }
    }
    EXPECT_NEAR(*result.layers[0].error, std::sqrt(error / product_norm), 1e-4);
  }
}

TEST(RefitPrune, FittingNeverMakesALayerWorse) {
  double refitted = 0;
  double pursued = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    double errors[3] = {};
    for (const Method method : {Method::kMagnitude, Method::kRefit, Method::kPursuit}) {
      flow::Graph graph = one_product(seed);
      const auto result = prune_graph(graph, options_for(method), batches_for({20, 24}, seed));
      errors[static_cast<int>(method)] = total_error(result);
    }
    EXPECT_LE(errors[1], errors[0] * (1 + 1e-6)) << seed;
    refitted += errors[1];
    pursued += errors[2];
  }
  EXPECT_LT(pursued, refitted);
}

TEST(RefitPrune, FewSamplesDoNoHarm) {
  // Two samples for 24 inputs: nothing is known of most directions, and the weights there stay.
  flow::Graph magnitude = one_product(3);
  flow::Graph fitted = one_product(3);
  const std::vector<Batch> few = {{random_tensor({2, 24}, 9)}};
  prune_graph(magnitude, options_for(Method::kMagnitude), few);
  prune_graph(fitted, options_for(Method::kRefit), few);
  double largest = 0;
  for (const float value : fitted.constants.at(1).values<float>())
    largest = std::max<double>(largest, std::abs(value));
  EXPECT_LT(largest, 5);
}

TEST(RefitPrune, BlocksThatWereZeroStayAndCount) {
  for (const Method method : {Method::kMagnitude, Method::kRefit, Method::kPursuit}) {
    flow::Graph graph = one_product(11);
    flow::Tensor weight = random_tensor({24, 12}, 11);
    for (size_t i = 0; i < 8 * 12; ++i) weight.values<float>()[i] = 0;  // six of 18 blocks
    graph.constants.at(1) = weight;
    Options options = options_for(method);
    const Result half = prune_graph(graph, options, batches_for({20, 24}, 2));
    EXPECT_EQ(half.layers[0].zero_before, 6);
    EXPECT_EQ(half.layers[0].kept.kept(), 9);
    EXPECT_GE(half.layers[0].kept.indices().front(), 6);
    // Enough of them: nothing changes.
    flow::Graph sparse = one_product(11);
    sparse.constants.at(1) = weight;
    options.sparsity = 0.3;
    const Result none = prune_graph(sparse, options, batches_for({20, 24}, 2));
    EXPECT_EQ(none.layers[0].kept.kept(), 12);
    EXPECT_TRUE(none.changed.empty());
    EXPECT_TRUE(same_numbers(sparse.constants.at(1), weight));
  }
}

TEST(RefitPrune, EqualSeedsGiveEqualBitsOnAnyThreads) {
  Options options = options_for(Method::kPursuit, {3, 4});
  options.rows = 300;
  std::vector<flow::Graph> graphs(3, small_convnet(8));
  for (size_t i = 0; i < graphs.size(); ++i) {
    options.threads = i == 1 ? 2 : 1;
    options.seed = i == 2 ? 2 : 1;
    prune_graph(graphs[i], options, batches_for({8, 4, 9, 9}, 4));
  }
  bool other_seed_differs = false;
  for (const auto& [value, tensor] : graphs[0].constants) {
    EXPECT_TRUE(same_numbers(tensor, graphs[1].constants.at(value))) << value;
    other_seed_differs = other_seed_differs || !same_numbers(tensor, graphs[2].constants.at(value));
  }
  EXPECT_TRUE(other_seed_differs);
}

TEST(RefitPrune, WholeNumbersThatBecomeOthersAreCounted) {
  Chain chain({-1, 24});
  const flow::Graph whole = chain.node("MatMul", {chain.constant("w", random_tensor({24, 12}, 4))})
                                .node("ArgMax", {}, {{"axis", int64_t{1}}})
                                .finish(2);
  flow::Graph graph = whole;
  const std::vector<Batch> batches = batches_for({20, 24}, 3);
  const Result result = prune_graph(graph, options_for(Method::kMagnitude), batches);
  double others = 0;
  for (const Batch& batch : batches) {
    const flow::Tensor expected = flow::evaluate(whole, batch)[0];
    const flow::Tensor got = flow::evaluate(graph, batch)[0];
    for (size_t i = 0; i < 20; ++i)
      others += expected.values<int64_t>()[i] != got.values<int64_t>()[i] ? 1 : 0;
  }
  ASSERT_GT(others, 0);
  ASSERT_EQ(result.output_errors.size(), 1U);
  EXPECT_TRUE(result.output_errors[0].counted);
  EXPECT_DOUBLE_EQ(result.output_errors[0].share, others / 60);
}

TEST(RefitPrune, MagnitudeNeedsNoInputsAndOthersSayThatTheyDo) {
  flow::Graph graph = small_convnet(1);
  const Result result = prune_graph(graph, options_for(Method::kMagnitude), {});
  EXPECT_FALSE(result.layers[0].error.has_value());
  EXPECT_TRUE(result.output_errors.empty());
  try {
    prune_graph(graph, options_for(Method::kRefit), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("calibration"), std::string::npos);
  }
}

TEST(RefitPrune, CalibrationArraysAreCheckedAndCutToTheSamplesAskedFor) {
  const flow::Graph graph = small_convnet(1);
  Samples scalar{"x.npy", {{}, std::vector<float>{3.0F}}};
  EXPECT_THROW(batches_of(graph, {scalar}, 0, 8), FormatError);
  flow::Graph two = graph;
  const int32_t other = two.add_value("other");
  two.inputs.push_back({other, {flow::Type::kFloat, {-1, 2}}});
  flow::Dims dims = graph.inputs[0].spec.dims;
  dims[0] = 5;
  int64_t numbers = 1;
  for (const int64_t dim : dims) numbers *= dim;
  const Samples long_one{"a.npy", {dims, std::vector<float>(static_cast<size_t>(numbers))}};
  const Samples short_one{"b.npy", {{3, 2}, std::vector<float>(6)}};
  EXPECT_THROW(batches_of(two, {long_one, short_one}, 0, 8), FormatError);
  const Batches batches = batches_of(two, {long_one, short_one}, 3, 8);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0][0].dims()[0], 3);
}

TEST(RefitPrune, LayersThatAreNamedOrTooSmallStayDense) {
  flow::Graph graph = small_convnet(1);
  Options options = options_for(Method::kMagnitude);
  options.except = {"Conv0"};
  options.min_blocks = 20;
  const Result result = prune_graph(graph, options, {});
  EXPECT_EQ(result.layers[0].why_dense, "excepted");
  EXPECT_TRUE(result.layers[1].why_dense.empty());
  EXPECT_EQ(result.layers[2].why_dense, "fewer than 20 blocks");
  EXPECT_EQ(result.changed.size(), 1U);
  options.layers = {"conv9"};
  EXPECT_THROW(prune_graph(graph, options, {}), Error);
}

}  // namespace
}  // namespace hewn::refit
