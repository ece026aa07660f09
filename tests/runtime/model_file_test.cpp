#include "hewn/runtime/model_file.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/runtime/graph_json.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

using test::TempFolder;

TEST(Graph, SurvivesJson) {
  for (const NamedGraph& sample : sample_graphs()) {
    EXPECT_EQ(graph_from_json(to_json(sample.graph)), sample.graph) << sample.name;
  }
}

TEST(ModelFile, RoundTrip) {
  const TempFolder folder;
  for (const NamedGraph& sample : sample_graphs()) {
    const ModelData data = with_weights(sample.graph, {5, 3}, Pattern::kRandom);
    write_model(folder / "m.hewn", data);
    const ModelData back = read_model(folder / "m.hewn");
    EXPECT_EQ(back.graph, data.graph);
    EXPECT_EQ(back.model, "test");
    ASSERT_EQ(back.layers.size(), data.layers.size());
    for (const auto& [name, layer] : data.layers) {
      EXPECT_EQ(back.layers.at(name).values, layer.values);
      EXPECT_EQ(back.layers.at(name).bias, layer.bias);
      EXPECT_EQ(back.layers.at(name).pattern.row, layer.pattern.row);
      EXPECT_EQ(back.layers.at(name).pattern.begin, layer.pattern.begin);
    }
    ASSERT_EQ(back.tables.size(), data.tables.size());
    for (const auto& [name, table] : data.tables) EXPECT_EQ(back.tables.at(name).values, table.values);
    write_model(folder / "half.hewn", data, io::DType::kBF16);
    const ModelData half = read_model(folder / "half.hewn");
    for (const auto& [name, layer] : half.layers) {
      EXPECT_LT(largest_difference(layer.values, data.layers.at(name).values), 1.0 / 256);
    }
    for (const auto& [name, table] : half.tables) {
      EXPECT_TRUE(table.bf16);
      EXPECT_LT(largest_difference(table.values, data.tables.at(name).values), 1.0 / 256);
    }
  }
}

TEST(ModelFile, NoticesEveryDamagedByte) {
  const TempFolder folder;
  Graph graph;
  graph.linear("a", graph.input({2, 1, 1}), 2);
  const std::string good = bytes_of(with_weights(graph, {2, 2}, Pattern::kFull));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_THROW(parse_model(bad, "m", {}), FormatError) << "byte " << i;
    EXPECT_THROW(parse_model(good.substr(0, i), "m", {}), FormatError) << "length " << i;
  }
  EXPECT_THROW(read_model(folder / "absent.hewn"), Error);
}

TEST(ModelFile, LoadsTheFuzzersCorpus) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HEWN_SOURCE_DIR) + "/tests/fuzz/model_loader")) {
    SCOPED_TRACE(entry.path());
    Model model = Model::load(entry.path());
    const std::vector<float> input = numbers(model.inputs(), 1);
    std::vector<float> output(static_cast<size_t>(model.outputs()));
    model.run(input.data(), 1, output.data());
    ++files;
  }
  EXPECT_GE(files, 3);
}

}  // namespace
}  // namespace hewn::runtime
