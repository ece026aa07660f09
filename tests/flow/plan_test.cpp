// Plans of batches, threads, shapes that change, and of files.
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/flow/samples.h"
#include "tests/flow/draft.h"
#include "tests/support/temp_folder.h"

namespace hewn::flow {
namespace {

TEST(Network, ALargeBatchRunsInPiecesWhereSamplesAreApart) {
  Draft draft({6, 16, 64, 64});
  int32_t y = draft.add("Relu", {draft.conv(0, 16, 32, 3, 1, 1)});
  draft.output(draft.add("GlobalAveragePool", {y}), {1, 32, 1, 1});
  const Tensor input = noise({6, 16, 64, 64}, 5);
  EXPECT_TRUE(samples_are_apart(specialise(draft.graph, {input}), 6));
  expect_same(draft.graph, input);
  // The mean over the batch sees all of them.
  Draft mixed({6, 16, 64, 64});
  y = mixed.conv(0, 16, 32, 3, 1, 1);
  const int32_t mean = mixed.add("ReduceMean", {y}, {{"axes", std::vector<int64_t>{0}}});
  mixed.output(mixed.add("Sub", {y, mean}), {1, 32, 64, 64});
  EXPECT_FALSE(samples_are_apart(specialise(mixed.graph, {input}), 6));
  expect_same(mixed.graph, input);
  // As does a constant that differs from sample to sample.
  Draft shifted({6, 16, 64, 64});
  y = shifted.add("Add", {shifted.conv(0, 16, 32, 3, 1, 1), shifted.constant(noise({6, 1, 1, 1}, 3))});
  shifted.output(y, {1, 32, 64, 64});
  EXPECT_FALSE(samples_are_apart(specialise(shifted.graph, {input}), 6));
  expect_same(shifted.graph, input);
}

TEST(Network, TheNumberOfThreadsChangesNoBit) {
  Draft draft({3, 32, 20, 20});
  int32_t y = draft.add("Relu", {draft.conv(0, 32, 64, 3, 1, 1)});
  y = draft.add("Sigmoid", {draft.conv(y, 64, 64, 3, 2, 1)});
  draft.output(y, {1, 64, 10, 10});
  const Tensor input = noise({3, 32, 20, 20}, 5);
  Network network(draft.graph);
  const std::vector<Tensor> one = network.run({input});
  for (const int threads : {2, 3, 5}) {
    network.set_threads(threads);
    const std::vector<Tensor> several = network.run({input});
    EXPECT_TRUE(std::equal(one[0].values<float>().begin(), one[0].values<float>().end(),
                           several[0].values<float>().begin()));
  }
}

TEST(Network, InputsThatDoNotFitAreNamed) {
  Draft draft({1, 3, 8, 8});
  draft.output(draft.conv(0, 3, 4, 3, 1, 1), {1, 4, 8, 8});
  Network network(draft.graph);
  try {
    network.run({noise({1, 4, 8, 8}, 1)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "input x: expected float ?x3x8x8, got float 1x4x8x8");
  }
  EXPECT_THROW(network.run({}), Error);
}

TEST(FlowModelFile, ComesBackAsItWas) {
  Draft draft({1, 3, 8, 8});
  int32_t y = draft.conv(0, 3, 64, 3, 1, 1, 1, 0.9F);
  y = draft.add("Clip", {y, draft.constant(tensor_of(0.0F)), draft.constant(tensor_of(6.0F))});
  draft.output(y, {1, 64, 8, 8});
  const test::TempFolder folder;
  write_flow_model(folder / "m.hewn", draft.graph, {{"hewn.source", "onnx"}});
  EXPECT_TRUE(is_flow_model(folder / "m.hewn"));
  const FlowModel model = read_flow_model(folder / "m.hewn");
  EXPECT_EQ(model.metadata.at("hewn.source"), "onnx");
  const Tensor input = noise({2, 3, 8, 8}, 1);
  const auto before = evaluate(draft.graph, {input});
  const auto after = evaluate(model.graph, {input});
  EXPECT_TRUE(std::equal(before[0].values<float>().begin(), before[0].values<float>().end(),
                         after[0].values<float>().begin()));
}

/// A weight that follows from the shape of the input is folded anew for every shape; the plan of another
/// shape must not multiply by it.
TEST(Network, WeightsFoldedForAShapeAreThatShapes) {
  Draft draft({1, 4});
  Tensor first(Spec{Type::kInt, {1}});
  Tensor shape(Spec{Type::kInt, {2}});
  shape.values<int64_t>()[0] = 4;
  shape.values<int64_t>()[1] = 48;
  const int32_t rows = draft.add("Gather", {draft.add("Shape", {0}), draft.constant(std::move(first))});
  const int32_t number = draft.add("Cast", {rows}, {{"to", int64_t{1}}});
  const int32_t weight = draft.add("Expand", {number, draft.constant(std::move(shape))});
  draft.output(draft.add("MatMul", {0, weight}), {1, 48});
  Network network(draft.graph);
  for (const int64_t batch : {1, 2, 3, 4, 5, 6, 7, 8, 2, 9, 1}) {
    const std::vector<Tensor> x = {noise({batch, 4}, 3)};
    const Tensor expected = evaluate(draft.graph, x)[0];
    const Tensor got = network.run(x)[0];
    for (size_t i = 0; i < expected.values<float>().size(); ++i)
      ASSERT_NEAR(got.values<float>()[i], expected.values<float>()[i], 1e-4) << "batch " << batch;
  }
}

TEST(Network, BatchNormAfterAConvolutionThatIsNoneIsLeftAlone) {
  for (const int64_t broken : {0, 1}) {
    Draft draft({1, 2, 4, 4});
    const int32_t x = draft.conv(0, 2, 3, 1, 1, 0);
    Node& conv = draft.graph.nodes.back();
    if (broken == 0) conv.inputs.resize(1);
    if (broken == 1) draft.graph.constants[conv.inputs[2]] = noise({1}, 9);
    std::vector<int32_t> inputs = {x};
    for (uint32_t i = 0; i < 4; ++i) inputs.push_back(draft.constant(noise({3}, 20 + i)));
    draft.output(draft.add("BatchNormalization", inputs), {1, 3, 4, 4});
    EXPECT_THROW(Network(draft.graph).run(std::vector<Tensor>{noise({1, 2, 4, 4}, 1)}), Error) << broken;
  }
}

}  // namespace
}  // namespace hewn::flow
