#include <gtest/gtest.h>

#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"
#include "tests/support/temp_folder.h"

extern "C" int use_model_from_c(const char* path, const float* input, int64_t batch, float* output);

namespace hewn::runtime {
namespace {

TEST(CApi, RunsAModelAndSurvivesMisuse) {
  const test::TempFolder folder;
  const ModelData data = with_weights(sample_graphs()[0].graph, {4, 4}, Pattern::kRandom);
  write_model(folder / "m.hewn", data);
  const std::vector<float> input = numbers(3 * 63, 1);
  std::vector<float> output(3 * 10);
  EXPECT_EQ(use_model_from_c((folder / "m.hewn").c_str(), input.data(), 3, output.data()), 0);
  EXPECT_LT(largest_difference(output, by_definition(data, input, 3)), 1e-5);
}

TEST(CApi, LooksUpValues) {
  const test::TempFolder folder;
  Graph graph;
  graph.linear("a", graph.embedding("e", graph.input({3, 1, 1}), {5, 2, 90}, 4), 2);
  ModelData data = with_weights(graph, {4, 4}, Pattern::kRandom);
  data.classes = {"no.", "yes"};
  write_model(folder / "m.hewn", data);
  const std::vector<float> input = {4, 1, 89, 0, 0, 0};
  std::vector<float> output(2 * 2);
  EXPECT_EQ(use_model_from_c((folder / "m.hewn").c_str(), input.data(), 2, output.data()), 0);
  EXPECT_LT(largest_difference(output, by_definition(data, input, 2)), 1e-5);
}

}  // namespace
}  // namespace hewn::runtime
