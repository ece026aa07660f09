// Embeddings: looked up as their definition says, and safe from values that no field has.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

Graph click_graph(const std::vector<int64_t>& vocabularies, int64_t width) {
  Graph graph;
  const int32_t in = graph.input({static_cast<int64_t>(vocabularies.size()), 1, 1});
  graph.linear("b", graph.relu(graph.linear("a", graph.embedding("e", in, vocabularies, width), 24)), 1);
  return graph;
}

std::vector<float> run(Model& model, const std::vector<float>& input, int64_t batch) {
  std::vector<float> output(static_cast<size_t>(batch * model.outputs()), 1e30F);
  model.run(input.data(), batch, output.data());
  return output;
}

TEST(Embedding, EqualsItsDefinition) {
  const test::TempFolder folder;
  const std::vector<std::vector<int64_t>> shapes = {
      {1}, {5}, {1, 1}, {40, 1, 2000, 3}, std::vector<int64_t>(39, 50)};
  for (const std::vector<int64_t>& vocabularies : shapes) {
    for (const int64_t width : {1, 3, 10}) {
      const Graph graph = click_graph(vocabularies, width);
      for (const io::DType type : {io::DType::kF32, io::DType::kBF16}) {
        write_model(folder / "m.hewn", with_weights(graph, {4, 4}, Pattern::kFull), type);
        const ModelData data = read_model(folder / "m.hewn");
        Model model(data);
        EXPECT_EQ(model.vocabularies(), vocabularies);
        for (const int64_t batch : {1, 7, 33}) {
          SCOPED_TRACE(testing::Message()
                       << vocabularies.size() << " fields, width " << width << ", batch " << batch);
          const std::vector<float> input = inputs_for(graph, batch, 5);
          ASSERT_LT(largest_difference(run(model, input, batch), by_definition(data, input, batch)), 1e-5);
        }
      }
    }
  }
}

TEST(Embedding, UnknownValuesSpoilTheirSampleOnly) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Graph graph = click_graph({4, 6}, 3);
  // Without kept blocks the outputs do not depend on the inputs at all.
  for (const Pattern pattern : {Pattern::kFull, Pattern::kEmpty}) {
    Model model(with_weights(graph, {4, 4}, pattern));
    for (const int threads : {1, 3}) {
      model.set_threads(threads);
      for (const int64_t batch : {1, 7, 33}) {
        const std::vector<float> good = inputs_for(graph, batch, 6);
        const std::vector<float> expected = run(model, good, batch);
        for (const float value : {std::nanf(""), -1.0F, -0.5F, 0.5F, 2.25F, 4.0F, 5.0F, 6.0F, 16777216.0F,
                                  1e30F, kInfinity, -kInfinity}) {
          SCOPED_TRACE(testing::Message() << "value " << value << ", batch " << batch);
          std::vector<float> input = good;
          const auto sample = static_cast<size_t>(batch / 2);
          input[2 * sample] = value;
          const std::vector<float> output = run(model, input, batch);
          for (size_t i = 0; i < output.size(); ++i) {
            if (i == sample) {
              EXPECT_TRUE(std::isnan(output[i])) << output[i];
            } else {
              EXPECT_EQ(output[i], expected[i]) << "sample " << i;
            }
          }
        }
      }
    }
  }
}

TEST(Embedding, ThreadsShareTheSamples) {
  const Graph graph = click_graph(std::vector<int64_t>(39, 50), 10);
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kFull);
  Model model(data);
  const int64_t batch = 1100;
  std::vector<float> input = inputs_for(graph, batch, 5);
  const std::vector<float> expected = by_definition(data, input, batch);
  input[39 * 1000] = -1;
  for (const int threads : {1, 2, 5}) {
    model.set_threads(threads);
    const std::vector<float> output = run(model, input, batch);
    for (size_t i = 0; i < output.size(); ++i) {
      if (i == 1000) {
        EXPECT_TRUE(std::isnan(output[i]));
      } else {
        EXPECT_NEAR(output[i], expected[i], 1e-5) << i << " on " << threads << " threads";
      }
    }
  }
}

TEST(Embedding, AFieldHasTheValuesThatAllTablesHave) {
  Graph graph;
  const int32_t in = graph.input({2, 1, 1});
  graph.add(graph.embedding("a", in, {10, 20}, 1), graph.embedding("b", in, {20, 10}, 1));
  EXPECT_EQ(vocabularies_of(graph), (std::vector<int64_t>{10, 10}));
  EXPECT_TRUE(vocabularies_of(Graph{}).empty());
}

TEST(Embedding, LargestNumberOfAValueIsExact) {
  Graph graph;
  graph.embedding("e", graph.input({1, 1, 1}), {kMaxVocabulary}, 1);
  ModelData data;
  data.graph = graph;
  data.tables["e"].values.assign(static_cast<size_t>(kMaxVocabulary), 0);
  data.tables["e"].values.back() = 7;
  Model model(std::move(data));
  EXPECT_EQ(run(model, {static_cast<float>(kMaxVocabulary - 1), static_cast<float>(kMaxVocabulary - 2)}, 2),
            (std::vector<float>{7, 0}));
}

TEST(Embedding, RefusesWhatCannotBeLookedUp) {
  EXPECT_THROW(infer_shapes(click_graph({3, kMaxVocabulary + 1}, 2), {}), Error);
  EXPECT_THROW(infer_shapes(click_graph({3, 0}, 2), {}), Error);
  EXPECT_THROW(infer_shapes(click_graph(std::vector<int64_t>(600, kMaxVocabulary), 1), {}), Error);
  Graph behind;
  behind.embedding("e", behind.relu(behind.input({1, 1, 1})), {3}, 2);
  EXPECT_THROW(infer_shapes(behind, {}), Error);
  Graph beside;
  const int32_t in = beside.input({1, 1, 1});
  beside.add(beside.embedding("e", in, {3}, 1), in);
  EXPECT_THROW(infer_shapes(beside, {}), Error);
}

}  // namespace
}  // namespace hewn::runtime
