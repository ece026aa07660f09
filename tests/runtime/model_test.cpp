#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"

namespace hewn::runtime {
namespace {

std::vector<float> run(Model& model, const std::vector<float>& input, int64_t batch) {
  std::vector<float> output(static_cast<size_t>(batch * model.outputs()), 1e30F);
  model.run(input.data(), batch, output.data());
  return output;
}

TEST(Model, EveryOpEqualsItsDefinition) {
  for (const NamedGraph& sample : sample_graphs()) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 4}, {5, 3}, {16, 16}, {64, 8}}) {
      for (const Pattern pattern : {Pattern::kRandom, Pattern::kFull, Pattern::kEmpty}) {
        const ModelData data = with_weights(sample.graph, block, pattern);
        Model model(data);
        model.set_threads(1);
        for (const int64_t batch : {7, 1}) {
          SCOPED_TRACE(testing::Message()
                       << sample.name << ", block " << to_string(block) << ", batch " << batch);
          const std::vector<float> input = inputs_for(sample.graph, batch, 5);
          ASSERT_LT(largest_difference(run(model, input, batch), by_definition(data, input, batch)), 1e-5);
        }
      }
    }
  }
}

TEST(Model, BatchesAndThreadsGiveTheSameBits) {
  for (const NamedGraph& sample : sample_graphs()) {
    const ModelData data = with_weights(sample.graph, {4, 4}, Pattern::kRandom);
    Model model(data);
    const int64_t inputs = model.inputs();
    const std::vector<float> input = inputs_for(sample.graph, 256, 6);
    std::vector<float> expected = by_definition(data, input, 256);
    for (const int64_t batch : {256, 33, 1, 7, 64, 100, 33}) {  // buffers stay dirty from one to the next
      SCOPED_TRACE(testing::Message() << sample.name << ", batch " << batch);
      const std::vector<float> part(input.begin(), input.begin() + batch * inputs);
      model.set_threads(1);
      const std::vector<float> one = run(model, part, batch);
      const std::vector<float> right(expected.begin(), expected.begin() + batch * model.outputs());
      ASSERT_LT(largest_difference(one, right), 1e-5);
      for (const int threads : {2, 3, 5}) {
        model.set_threads(threads);
        ASSERT_EQ(run(model, part, batch), one) << threads << " threads";
      }
    }
  }
}

TEST(Model, CopiesShareWeightsAndNothingElse) {
  const Graph graph = sample_graphs()[4].graph;
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kRandom);
  Model first(data);
  const std::vector<float> a = numbers(9 * first.inputs(), 1);
  const std::vector<float> b = numbers(9 * first.inputs(), 2);
  Model second(first);
  const std::vector<float> of_a = run(first, a, 9);
  const std::vector<float> of_b = run(second, b, 9);
  EXPECT_EQ(run(first, b, 9), of_b);
  EXPECT_EQ(run(second, a, 9), of_a);
  second = first;
  EXPECT_EQ(run(second, a, 9), of_a);
}

TEST(Model, CopiesRunAtOnceOnThreadsOfTheirOwn) {
  const NamedGraph sample = sample_graphs()[4];
  const Model model(with_weights(sample.graph, {4, 4}, Pattern::kRandom));
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      Model own(model);
      own.set_threads(static_cast<int>(i % 3) + 1);
      for (int again = 0; again < 3; ++again) got[i] = run(own, inputs_for(sample.graph, 64, i), 64);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < got.size(); ++i) {
    Model alone(model);
    EXPECT_EQ(run(alone, inputs_for(sample.graph, 64, i), 64), got[i]);
  }
}

TEST(Model, RefusesWhatGoesBeyondTheLimits) {
  Graph graph;
  const int32_t x = graph.input({4, 16, 16});
  graph.conv2d("a", x, 8, {3, 3, 1, 1, 1});
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kFull);
  EXPECT_NO_THROW(Model(data, {}));
  EXPECT_THROW(Model(data, {2047, 1 << 20, 1 << 20}), Error);
  EXPECT_THROW(Model(data, {1 << 20, 1024, 1 << 20}), Error);  // the input and the output are there at once
  EXPECT_THROW(Model(data, {1 << 20, 1 << 20, 36 * 2048 - 1}), Error);
  EXPECT_NO_THROW(Model(data, {2048, 1 << 14, 36 * 2048}));
}

TEST(Model, TakesLimitsBeyondTheUsualOnes) {
  const Limits usual;
  Graph graph;
  graph.relu(graph.input({usual.value_floats + 1, 1, 1}));
  ModelData data;
  data.graph = graph;
  EXPECT_THROW(Model(data, {}), Error);
  Limits more = usual;
  more.value_floats *= 2;
  EXPECT_NO_THROW(Model(data, more));
}

}  // namespace
}  // namespace hewn::runtime
