#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/runtime/graph_json.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/edits.h"
#include "tests/runtime/models.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

using test::TempFolder;

/// Input 3x4x4, conv "a" to 8 channels, relu, flatten, linear "b" to 5 outputs, in blocks of 4x4.
ModelData image_model() {
  Graph graph;
  const int32_t image = graph.relu(graph.conv2d("a", graph.input({3, 4, 4}), 8, {3, 3, 1, 1, 1}));
  graph.linear("b", graph.flatten(image), 5);
  ModelData model = with_weights(graph, {4, 4}, Pattern::kFull);
  model.classes = {"cat", "dog", "", "Bär", "\"quoted\""};
  model.preprocessing = {{"kind", "image"}, {"size", {4, 4}}, {"mean", {0.5, 0.25, 0}}, {"std", {1, 1, 2}}};
  model.metadata = {{"licence", "CC0"}, {"note", "two\nlines"}};
  return model;
}

TEST(ModelV2, RoundTrip) {
  const TempFolder folder;
  const ModelData data = image_model();
  write_model(folder / "m.hewn", data);
  const io::SafetensorsFile file = io::read_safetensors(folder / "m.hewn", true);
  EXPECT_EQ(file.metadata.at("hewn.format"), "2");
  EXPECT_EQ(
      file.metadata.at("hewn.graph"),
      R"({"inputs":[{"name":"input","type":"f32","shape":["batch",3,4,4]}],)"
      R"("outputs":[{"name":"output","value":"b","type":"f32","shape":["batch",5]}],)"
      R"("nodes":[{"op":"conv2d","in":["input"],"out":["a"],"name":"a","kernel":[3,3],"stride":1,"padding":1,)"
      R"("dilation":1,"outputs":8},{"op":"relu","in":["a"],"out":["v2"]},{"op":"flatten","in":["v2"],)"
      R"("out":["v3"]},{"op":"linear","in":["v3"],"out":["b"],"name":"b","outputs":5}]})");
  const ModelData back = read_model(folder / "m.hewn");
  EXPECT_EQ(back.graph, data.graph);
  EXPECT_EQ(back.model, "test");
  EXPECT_EQ(back.method, "none");
  EXPECT_EQ(back.classes, data.classes);
  EXPECT_EQ(back.preprocessing, data.preprocessing);
  EXPECT_EQ(back.metadata, data.metadata);
  const Model model = Model::load(folder / "m.hewn");
  const Model copy = model;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
  EXPECT_EQ(copy.classes(), data.classes);
  EXPECT_EQ(copy.preprocessing(), data.preprocessing);
  EXPECT_EQ(copy.metadata(), data.metadata);
}

TEST(ModelV2, ValuesHaveNamesOfTheirOwn) {
  Graph graph;
  const int32_t x = graph.linear("v2", graph.linear("input", graph.input({3, 1, 1}), 3), 3);
  graph.linear("input_", graph.relu(graph.relu(x)), 3);
  EXPECT_EQ(graph_from_json(to_json(graph)), graph);
}

TEST(ModelV2, ReadsWhatMayBeLeftOut) {
  const TempFolder folder;
  write_model(folder / "m.hewn", image_model());
  const io::SafetensorsFile file = io::read_safetensors(folder / "m.hewn", true);
  Parts parts{file.metadata, file.tensors, {}};
  for (const char* key : {"hewn.about", "hewn.classes", "hewn.preprocessing"}) parts.metadata.erase(key);
  parts.metadata["hewn.needs"] = "[]";
  parts.metadata["hewn.later"] = "{";
  parts.metadata["format"] = "pt";
  parts.replace(R"(,"type":"f32","shape":["batch",5])", "");
  parts.replace(R"("dilation":1)", R"("dilation":1,"groups":1)");
  parts.tensors.erase("a.bias");
  io::write_safetensors(folder / "less.hewn", parts.metadata, parts.tensors, true);
  const ModelData less = read_model(folder / "less.hewn");
  EXPECT_EQ(less.graph, image_model().graph);
  EXPECT_EQ(less.model, "");
  EXPECT_TRUE(less.classes.empty() && less.preprocessing.is_null() && less.metadata.empty());
  EXPECT_EQ(less.layers.at("a").bias, std::vector<float>(8));
  // Zeros that no file holds are memory too.
  Limits limits;
  limits.activation_floats = 7;
  EXPECT_THROW(read_model(folder / "less.hewn", limits), FormatError);
}

Edit reserved_node(const char* name, const char* node, const char* says) {
  return {name, [node](Parts& p) { p.replace(R"({"op":"relu","in":["a"],"out":["v2"]})", node); }, says};
}

TEST(ModelV2, NamesWhatIsReserved) {
  const TempFolder folder;
  write_model(folder / "m.hewn", image_model());
  const std::string unknown = "this version of hewn does not know";
  expect_refused(
      folder / "m.hewn",
      {{"needs", [](Parts& p) { p.metadata["hewn.needs"] = R"(["int8","groups"])"; },
        unknown + R"(: "int8", "groups")"},
       {"int8",
        [](Parts& p) {
          p.set<int8_t>("a.values", {14, 4, 4}, std::vector<int8_t>(224));
          p.tensor("a.values").type = io::DType::kI8;
          p.set<float>("a.scale", {8}, std::vector<float>(8));
          p.set<float>("a.input_scale", {1}, {1});
        },
        R"(layer "a" has int8 weights)"},
       {"groups", [](Parts& p) { p.replace(R"("dilation":1)", R"("dilation":1,"groups":2)"); },
        R"(graph node 1: has "groups")"},
       {"operators",
        [](Parts& p) {
          p.replace(R"("op":"relu")", R"("op":"Softmax","axis":1)");
          p.replace(R"("op":"flatten")", R"("op":"MatMul")");
        },
        unknown + R"(: "MatMul", "Softmax")"},
       reserved_node("another attribute", R"({"op":"relu","in":["a"],"out":["v2"],"alpha":0.1})",
                     "\"alpha\""),
       {"constants", [](Parts& p) { p.replace(R"("nodes")", R"("constants":["c"],"nodes")"); },
        "\"constants\""},
       {"opset", [](Parts& p) { p.replace(R"("nodes")", R"("opset":17,"nodes")"); }, "\"opset\""},
       {"two inputs",
        [](Parts& p) {
          p.replace(R"("inputs":[)", R"("inputs":[{"name":"mask","type":"f32","shape":["batch",3]},)");
        },
        "has 2 inputs"},
       {"two outputs",
        [](Parts& p) { p.replace(R"("outputs":[)", R"("outputs":[{"name":"more","value":"a"},)"); },
        "has 2 outputs"},
       {"an output on the way", [](Parts& p) { p.replace(R"("value":"b")", R"("value":"a")"); },
        "not what the last node makes"},
       {"numbers", [](Parts& p) { p.replace("f32", "i64"); }, R"(type "i64")"},
       {"truths", [](Parts& p) { p.replace(R"("b","type":"f32")", R"("b","type":"bool")"); },
        R"(type "bool")"},
       {"three dimensions", [](Parts& p) { p.replace("3,4,4", "3,16"); }, "3 dimensions"},
       {"an open size", [](Parts& p) { p.replace("3,4,4", R"(3,4,"width")"); }, R"(leaves "width" open)"},
       {"vocabularies", [](Parts& p) { p.tensors["preprocessing.0.values"] = p.tensors["a.bias"]; },
        R"("preprocessing.0.values")"},
       {"a layer in their place", [](Parts& p) { p.replace(R"("name":"b")", R"("name":"preprocessing.b")"); },
        R"(may not be called "preprocessing.b")"}});
  ModelData data = image_model();
  data.graph.nodes.back().name = "preprocessing";
  EXPECT_THROW(write_model(folder / "bad.hewn", data), Error);
}

const std::vector<Edit>& graph_edits() {
  static const std::vector<Edit> kEdits = {
      {"no graph", [](Parts& p) { p.metadata.erase("hewn.graph"); }},
      {"graph is not JSON", [](Parts& p) { p.metadata["hewn.graph"] = "{"; }},
      {"graph is a list", [](Parts& p) { p.metadata["hewn.graph"] = "[]"; }},
      {"graph of version 1", [](Parts& p) { p.metadata["hewn.format"] = "1"; }},
      {"deep graph", [](Parts& p) { p.metadata["hewn.graph"] = std::string(1 << 18, '['); }},
      {"long graph", [](Parts& p) { p.metadata["hewn.graph"] += std::string(1 << 25, ' '); }},
      {"many nodes",
       [](Parts& p) {
         std::string more;
         for (int i = 0; i < 20000; ++i) more += R"(,{"op":"relu","in":["a"],"out":["b"]})";
         p.metadata["hewn.graph"].insert(p.metadata["hewn.graph"].size() - 2, more);
       },
       "nodes"},
      {"many unknown ops",
       [](Parts& p) {
         std::string ops;
         for (int i = 0; i < 100; ++i) ops += (i > 0 ? "," : "") + str(R"({"op":"Op)", i, "\"}");
         p.metadata["hewn.graph"] = R"({"nodes":[)" + ops + "]}";
       },
       "and 68 more"},
      {"no nodes", [](Parts& p) { p.replace("nodes", "notes"); }},
      {"no inputs", [](Parts& p) { p.replace("inputs", "imports"); }},
      {"no outputs", [](Parts& p) { p.replace("outputs", "exports"); }},
      {"an empty list of inputs",
       [](Parts& p) { p.replace(R"({"name":"input","type":"f32","shape":["batch",3,4,4]})", ""); }},
      {"inputs as an object", [](Parts& p) { p.replace(R"("inputs":[)", R"("inputs":{},"more":[)"); }},
      {"input without a name", [](Parts& p) { p.replace(R"("name":"input",)", ""); }},
      {"input with an empty name", [](Parts& p) { p.replace(R"("name":"input")", R"("name":"")"); }},
      {"input without a type", [](Parts& p) { p.replace(R"("type":"f32",)", ""); }},
      {"input without a shape", [](Parts& p) { p.replace(R"(,"shape":["batch",3,4,4])", ""); }},
      {"shape as a number", [](Parts& p) { p.replace(R"(["batch",3,4,4])", "3"); }},
      {"shape of nothing", [](Parts& p) { p.replace(R"(["batch",3,4,4])", "[]"); }},
      {"shape without a batch", [](Parts& p) { p.replace(R"(["batch",3,4,4])", "[1,3,4,4]"); }},
      {"size 0", [](Parts& p) { p.replace("3,4,4", "3,0,4"); }},
      {"huge size", [](Parts& p) { p.replace("3,4,4", "3,4,18446744073709551615"); }},
      {"huge input", [](Parts& p) { p.replace("3,4,4", "16777216,16777216,16777216"); }},
      {"input is no object", [](Parts& p) { p.replace(R"({"name":"input")", R"([],{"name":"input")"); }},
      {"input as a node", [](Parts& p) { p.replace(R"("op":"relu")", R"("op":"input")"); }},
      {"output names nothing", [](Parts& p) { p.replace(R"("value":"b")", R"("value":"c")"); }, "\"c\""},
      {"output without a value", [](Parts& p) { p.replace(R"("value":"b",)", ""); }},
      {"output without a name", [](Parts& p) { p.replace(R"("name":"output",)", ""); }},
      {"output of another shape", [](Parts& p) { p.replace(R"(["batch",5])", R"(["batch",6])"); }},
      {"output with something more", [](Parts& p) { p.replace(R"("value":"b")", R"("value":"b","x":1)"); }},
      {"op is a number", [](Parts& p) { p.replace("\"relu\"", "7"); }},
      {"no op", [](Parts& p) { p.replace(R"("op":"relu",)", ""); }},
      {"node is a list", [](Parts& p) { p.replace(R"({"op":"relu")", R"([],{"op":"relu")"); }},
      {"an edge from nowhere", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":["z"])"); }, "\"z\""},
      {"an edge from behind", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":["v3"])"); }, "\"v3\""},
      {"a circle", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":["v2"])"); }, "\"v2\""},
      {"a long name",
       [](Parts& p) { p.replace(R"("in":["a"])", R"("in":[")" + std::string(1 << 20, 'z') + "\"]"); },
       "zzz...\""},
      {"a number as an edge", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":[1])"); }},
      {"two edges into relu", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":["a","a"])"); }},
      {"no edge", [](Parts& p) { p.replace(R"("in":["a"],)", ""); }},
      {"an edge without a list", [](Parts& p) { p.replace(R"("in":["a"])", R"("in":"a")"); }},
      {"made twice", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":["a"])"); }, "second time"},
      {"the input made again", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":["input"])"); }},
      {"made without a name", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":[""])"); }},
      {"two results", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":["v2","v5"])"); }},
      {"no result", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":[])"); }},
      {"result as a number", [](Parts& p) { p.replace(R"("out":["v2"])", R"("out":8)"); }},
      {"batch norm", [](Parts& p) { p.replace(R"("relu")", R"("batch_norm","name":"n","epsilon":1)"); },
       "batch norm"},
      {"stride 0", [](Parts& p) { p.replace(R"("stride":1)", R"("stride":0)"); }},
      {"groups as text", [](Parts& p) { p.replace(R"("stride":1)", R"("stride":1,"groups":"1")"); }},
      {"kernel of one side", [](Parts& p) { p.replace("[3,3]", "[3]"); }},
      {"more outputs", [](Parts& p) { p.replace(R"("outputs":8)", R"("outputs":9)"); }},
      {"no number of outputs", [](Parts& p) { p.replace(R"(,"outputs":8)", ""); }},
      {"a linear layer on an image", [](Parts& p) { p.replace("flatten", "relu"); }},
      {"layer twice", [](Parts& p) { p.replace(R"("name":"b")", R"("name":"a")"); }},
      {"layer without tensors", [](Parts& p) { p.replace(R"("name":"b")", R"("name":"c")"); }},
  };
  return kEdits;
}

Edit about(const char* name, const char* key, std::string text) {
  return {name, [=](Parts& p) { p.metadata[key] = text; }, key};
}

TEST(ModelV2, RefusesHostileFiles) {
  const TempFolder folder;
  write_model(folder / "m.hewn", image_model());
  expect_refused(folder / "m.hewn", graph_edits());
  expect_refused(folder / "m.hewn", tensor_edits());
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += str(i > 0 ? "," : "", "\"", i, "\":0");
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  expect_refused(
      folder / "m.hewn",
      {about("needs as text", "hewn.needs", "int8"), about("needs as an object", "hewn.needs", "{}"),
       about("needs of numbers", "hewn.needs", "[8]"), about("about as a list", "hewn.about", "[]"),
       about("about nothing", "hewn.about", "null"), about("a number about", "hewn.about", R"({"a":1})"),
       about("no JSON", "hewn.about", ""), about("deep", "hewn.about", R"({"a":)" + deep + "}"),
       about("long", "hewn.about", R"({"a":")" + std::string(1 << 20, 'a') + "\"}"),
       about("a list of instructions", "hewn.preprocessing", "[]"),
       about("null", "hewn.preprocessing", "null"),
       about("deep instructions", "hewn.preprocessing", R"({"a":)" + deep + "}"),
       about("many keys", "hewn.preprocessing", "{" + keys + "}"),
       about("classes as an object", "hewn.classes", "{}"),
       about("classes of numbers", "hewn.classes", "[1,2,3,4,5]"),
       about("too few classes", "hewn.classes", R"(["a","b","c","d"])"),
       about("a class of two lines", "hewn.classes", R"(["a","b","c","d","e\nf"])"),
       about("a long class", "hewn.classes", R"(["a","b","c","d",")" + std::string(2000, 'e') + "\"]")});
}

TEST(ModelV2, WritesNothingThatItWouldRefuse) {
  const TempFolder folder;
  const auto refuses = [&](const std::function<void(ModelData&)>& change) {
    ModelData data = image_model();
    change(data);
    EXPECT_THROW(write_model(folder / "m.hewn", data), Error);
    EXPECT_FALSE(std::filesystem::exists(folder / "m.hewn"));
  };
  refuses([](ModelData& data) { data.classes.pop_back(); });
  refuses([](ModelData& data) { data.preprocessing = Json::array(); });
  refuses([](ModelData& data) { data.metadata["model"] = "another"; });
  // Names of folders need not be UTF-8.
  ModelData data = image_model();
  data.classes[0] = "\xff";
  EXPECT_EQ(parse_model(bytes_of(data), "m", {}).classes[0], "\xef\xbf\xbd");
  Graph yes_or_no;
  yes_or_no.linear("a", yes_or_no.input({2, 1, 1}), 1);
  data = with_weights(yes_or_no, {2, 2}, Pattern::kFull);
  data.classes = {"no click", "click"};
  EXPECT_EQ(parse_model(bytes_of(data), "m", {}).classes, data.classes);
}

/// Without the checksum, which would stop them all.
TEST(ModelV2, SurvivesDamagedBytes) {
  const std::string good = bytes_of(image_model());
  Limits limits;
  limits.value_floats = limits.activation_floats = 1 << 14;
  limits.products = 1 << 20;
  int accepted = 0;
  for (size_t i = 0; i < good.size(); i += i < 2048 ? 1 : 16) {
    for (const int flip : {1, 4, 16, 128}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      try {
        Model model(parse_model(bad, "m", limits, false), limits);
        model.set_threads(1);
        const std::vector<float> input(static_cast<size_t>(model.inputs()), 1.0F);
        std::vector<float> output(static_cast<size_t>(model.outputs()));
        model.run(input.data(), 1, output.data());
        ++accepted;
      } catch (const Error&) {
        continue;
      }
    }
    EXPECT_THROW(parse_model(good.substr(0, i), "m", limits, false), FormatError) << "length " << i;
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace hewn::runtime
