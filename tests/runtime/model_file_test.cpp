#include "hewn/runtime/model_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

using test::TempFolder;
using test::write_text;

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

/// A good file as parts that can be edited one by one.
struct Parts {
  std::map<std::string, std::string> metadata;
  std::map<std::string, io::TensorView> tensors;
  std::vector<std::string> storage;

  io::TensorView& tensor(const std::string& name) { return tensors.at(name); }
  template <class T>
  void set(const std::string& name, std::vector<int64_t> shape, const std::vector<T>& values) {
    storage.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    tensors[name].shape = std::move(shape);
    tensors[name].data = std::as_bytes(std::span(storage.back()));
  }
  void replace(const std::string& from, const std::string& to) {
    std::string& graph = metadata.at("hewn.graph");
    const size_t at = graph.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    graph.replace(at, from.size(), to);
  }
};

struct Edit {
  const char* name;
  std::function<void(Parts&)> apply;
};

/// The file: input 3x4x4, conv "a" to 8 channels in blocks of 4x4 (7 x 2 of them, all kept), relu, flatten,
/// linear "b" to 5 outputs.
const std::vector<Edit>& edits() {
  static const std::vector<Edit> kEdits = {
      {"no format", [](Parts& p) { p.metadata.erase("hewn.format"); }},
      {"another format", [](Parts& p) { p.metadata["hewn.format"] = "2"; }},
      {"no graph", [](Parts& p) { p.metadata.erase("hewn.graph"); }},
      {"graph is not JSON", [](Parts& p) { p.metadata["hewn.graph"] = "{"; }},
      {"graph is a list", [](Parts& p) { p.metadata["hewn.graph"] = "[]"; }},
      {"graph without nodes", [](Parts& p) { p.metadata["hewn.graph"] = R"({"nodes":[]})"; }},
      {"deep graph", [](Parts& p) { p.metadata["hewn.graph"] = std::string(1 << 18, '['); }},
      {"many nodes",
       [](Parts& p) {
         std::string more;
         for (int i = 0; i < 20000; ++i) more += R"(,{"op":"relu","in":[0]})";
         p.metadata["hewn.graph"].insert(p.metadata["hewn.graph"].size() - 2, more);
       }},
      {"unknown op", [](Parts& p) { p.replace("relu", "gelu"); }},
      {"op is a number", [](Parts& p) { p.replace("\"relu\"", "7"); }},
      {"two inputs",
       [](Parts& p) { p.replace(R"({"op":"relu","in":[1]})", R"({"op":"input","shape":[3,4,4]})"); }},
      {"an edge forwards", [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu","in":[2])"); }},
      {"a negative edge", [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu","in":[-1])"); }},
      {"a huge edge",
       [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu","in":[18446744073709551615])"); }},
      {"an edge that is no number",
       [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu","in":[1.5])"); }},
      {"two edges into relu", [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu","in":[1,1])"); }},
      {"no edge", [](Parts& p) { p.replace(R"("relu","in":[1])", R"("relu")"); }},
      {"batch norm",
       [](Parts& p) { p.replace(R"("relu","in":[1])", R"("batch_norm","in":[1],"name":"n","epsilon":1)"); }},
      {"stride 0", [](Parts& p) { p.replace(R"("stride":1)", R"("stride":0)"); }},
      {"negative padding", [](Parts& p) { p.replace(R"("padding":1)", R"("padding":-1)"); }},
      {"huge padding", [](Parts& p) { p.replace(R"("padding":1)", R"("padding":4096)"); }},
      {"huge kernel", [](Parts& p) { p.replace(R"("kernel":[3,3])", R"("kernel":[4000,4000])"); }},
      {"kernel of 0", [](Parts& p) { p.replace(R"("kernel":[3,3])", R"("kernel":[0,3])"); }},
      {"another kernel", [](Parts& p) { p.replace(R"("kernel":[3,3])", R"("kernel":[1,1])"); }},
      {"huge input",
       [](Parts& p) { p.replace(R"("shape":[3,4,4])", R"("shape":[16777216,16777216,16777216])"); }},
      {"large input", [](Parts& p) { p.replace(R"("shape":[3,4,4])", R"("shape":[3,4000,4000])"); }},
      {"input of no channels", [](Parts& p) { p.replace(R"("shape":[3,4,4])", R"("shape":[0,4,4])"); }},
      {"more outputs", [](Parts& p) { p.replace(R"("out":8)", R"("out":9)"); }},
      {"huge outputs", [](Parts& p) { p.replace(R"("out":5)", R"("out":16777216)"); }},
      {"a linear layer on an image", [](Parts& p) { p.replace("flatten", "relu"); }},
      {"layer twice", [](Parts& p) { p.replace(R"("name":"b")", R"("name":"a")"); }},
      {"layer without tensors", [](Parts& p) { p.replace(R"("name":"b")", R"("name":"c")"); }},
      {"wrong metadata input", [](Parts& p) { p.metadata["hewn.input"] = "3x4x5"; }},
      {"wrong metadata outputs", [](Parts& p) { p.metadata["hewn.outputs"] = "6"; }},
      {"missing tensor", [](Parts& p) { p.tensors.erase("a.bias"); }},
      {"stray tensor", [](Parts& p) { p.tensors["z"] = p.tensors["a.bias"]; }},
      {"col of another rank",
       [](Parts& p) {
         p.tensor("a.col").shape = {2, 7};
       }},
      {"col as floats", [](Parts& p) { p.tensor("a.col").type = io::DType::kF32; }},
      {"col outside",
       [](Parts& p) {
         p.set<int32_t>("a.col", {14}, {0, 1, 2, 3, 4, 5, 7, 0, 1, 2, 3, 4, 5, 6});
       }},
      {"col negative",
       [](Parts& p) {
         p.set<int32_t>("a.col", {14}, {-1, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6});
       }},
      {"col twice",
       [](Parts& p) {
         p.set<int32_t>("a.col", {14}, {0, 1, 1, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6});
       }},
      {"col backwards",
       [](Parts& p) {
         p.set<int32_t>("a.col", {14}, {0, 2, 1, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6});
       }},
      {"col too short",
       [](Parts& p) {
         p.set<int32_t>("a.col", {3}, {0, 1, 2});
       }},
      {"crow empty", [](Parts& p) { p.set<int32_t>("a.crow", {0}, {}); }},
      {"crow too long",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {4}, {0, 7, 14, 14});
       }},
      {"crow not from 0",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {3}, {1, 7, 14});
       }},
      {"crow falls",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {3}, {0, 15, 14});
       }},
      {"crow negative",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {3}, {0, -7, 14});
       }},
      {"crow beyond",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {3}, {0, 7, 15});
       }},
      {"crow huge",
       [](Parts& p) {
         p.set<int32_t>("a.crow", {3}, {0, 2147483647, 14});
       }},
      {"values of another rank",
       [](Parts& p) {
         p.tensor("a.values").shape = {14, 16};
       }},
      {"values of another block",
       [](Parts& p) {
         p.tensor("a.values").shape = {14, 8, 2};
       }},
      {"values of other blocks",
       [](Parts& p) {
         p.tensor("a.values").shape = {7, 8, 4};
       }},
      {"values as whole numbers", [](Parts& p) { p.tensor("a.values").type = io::DType::kI32; }},
      {"blocks of nothing",
       [](Parts& p) {
         p.set<float>("a.values", {14, 0, 4}, {});
       }},
      {"huge blocks, none kept",
       [](Parts& p) {
         p.set<int32_t>("a.col", {0}, {});
         p.set<int32_t>("a.crow", {2}, {0, 0});
         p.set<float>("a.values", {0, int64_t{1} << 62, int64_t{1} << 62}, {});
       }},
      {"bias too short", [](Parts& p) { p.set<float>("a.bias", {7}, std::vector<float>(7)); }},
      {"bias of another rank",
       [](Parts& p) {
         p.tensor("a.bias").shape = {2, 4};
       }},
  };
  return kEdits;
}

/// The file: input 2x1x1, embedding "e" with vocabularies 3 and 4 and width 2, linear "b" to 5 outputs.
const std::vector<Edit>& embedding_edits() {
  static const std::vector<Edit> kEdits = {
      {"width 0", [](Parts& p) { p.replace(R"("width":2)", R"("width":0)"); }},
      {"another width", [](Parts& p) { p.replace(R"("width":2)", R"("width":3)"); }},
      {"huge width", [](Parts& p) { p.replace(R"("width":2)", R"("width":16777216)"); }},
      {"no width", [](Parts& p) { p.replace(R"("width":2,)", ""); }},
      {"no vocabularies", [](Parts& p) { p.replace(R"(,"vocabularies":[3,4])", ""); }},
      {"vocabularies as a number", [](Parts& p) { p.replace("[3,4]", "7"); }},
      {"a vocabulary as text", [](Parts& p) { p.replace("[3,4]", R"([3,"4"])"); }},
      {"a fraction of a value", [](Parts& p) { p.replace("[3,4]", "[3,4.5]"); }},
      {"empty list", [](Parts& p) { p.replace("[3,4]", "[]"); }},
      {"one vocabulary", [](Parts& p) { p.replace("[3,4]", "[7]"); }},
      {"three vocabularies", [](Parts& p) { p.replace("[3,4]", "[3,3,1]"); }},
      {"an empty vocabulary", [](Parts& p) { p.replace("[3,4]", "[7,0]"); }},
      {"a negative vocabulary", [](Parts& p) { p.replace("[3,4]", "[8,-1]"); }},
      {"a vocabulary beyond floats", [](Parts& p) { p.replace("[3,4]", "[3,16777217]"); }},
      {"a huge vocabulary", [](Parts& p) { p.replace("[3,4]", "[3,18446744073709551615]"); }},
      {"more rows than there are", [](Parts& p) { p.replace("[3,4]", "[3,5]"); }},
      {"fewer rows than there are", [](Parts& p) { p.replace("[3,4]", "[3,3]"); }},
      {"input of another length", [](Parts& p) { p.replace(R"("shape":[2,1,1])", R"("shape":[3,1,1])"); }},
      {"input with lines", [](Parts& p) { p.replace(R"("shape":[2,1,1])", R"("shape":[2,1,2])"); }},
      {"an embedding behind a layer",
       [](Parts& p) {
         p.replace(R"({"op":"linear","in":[1],"name":"b","out":5})",
                   R"({"op":"embedding","in":[1],"name":"f","width":1,"vocabularies":[1,1,1,1]})");
       }},
      {"a layer on value numbers",
       [](Parts& p) { p.replace(R"("linear","in":[1])", R"("linear","in":[0])"); }},
      {"an embedding called like a layer", [](Parts& p) { p.replace(R"("name":"e")", R"("name":"b")"); }},
      {"an embedding twice",
       [](Parts& p) {
         p.replace(R"({"op":"linear","in":[1],"name":"b","out":5})",
                   R"({"op":"embedding","in":[0],"name":"e","width":2,"vocabularies":[3,4]})");
       }},
      {"no table", [](Parts& p) { p.tensors.erase("e.table"); }},
      {"table for nobody", [](Parts& p) { p.tensors["f.table"] = p.tensors["e.table"]; }},
      {"table as a list", [](Parts& p) { p.tensor("e.table").shape = {14}; }},
      {"table turned",
       [](Parts& p) {
         p.tensor("e.table").shape = {2, 7};
       }},
      {"table of whole numbers", [](Parts& p) { p.tensor("e.table").type = io::DType::kI32; }},
      {"table too short",
       [](Parts& p) {
         p.set<float>("e.table", {6, 2}, std::vector<float>(12));
       }},
      {"table without rows",
       [](Parts& p) {
         p.set<float>("e.table", {0, 2}, {});
       }},
  };
  return kEdits;
}

/// Every edit of the file that holds `graph` is refused in one line.
void expect_refused(const Graph& graph, const std::vector<Edit>& all) {
  const TempFolder folder;
  write_model(folder / "good.hewn", with_weights(graph, {4, 4}, Pattern::kFull));
  const io::SafetensorsFile good = io::read_safetensors(folder / "good.hewn", true);
  EXPECT_NO_THROW(Model::load(folder / "good.hewn"));
  const std::string path = folder / "bad.hewn";
  for (const Edit& edit : all) {
    SCOPED_TRACE(edit.name);
    Parts parts{good.metadata, good.tensors, {}};
    parts.storage.reserve(8);
    edit.apply(parts);
    io::write_safetensors(path, parts.metadata, parts.tensors, true);
    try {
      Model::load(path);
      ADD_FAILURE() << "was accepted";
    } catch (const FormatError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ": ")) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(ModelFile, RefusesHostileFiles) {
  Graph graph;
  const int32_t image = graph.relu(graph.conv2d("a", graph.input({3, 4, 4}), 8, {3, 3, 1, 1, 1}));
  graph.linear("b", graph.flatten(image), 5);
  expect_refused(graph, edits());
}

TEST(ModelFile, RefusesHostileEmbeddings) {
  Graph graph;
  graph.linear("b", graph.embedding("e", graph.input({2, 1, 1}), {3, 4}, 2), 5);
  expect_refused(graph, embedding_edits());
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kFull);
  Limits limits;
  limits.table_floats = 14;
  EXPECT_NO_THROW(parse_model(bytes_of(data), "m", limits));
  limits.table_floats = 13;
  EXPECT_THROW(parse_model(bytes_of(data), "m", limits), FormatError);
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
       std::filesystem::directory_iterator(std::string(HEWN_SOURCE_DIR) + "/tests/fuzz/corpus")) {
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
