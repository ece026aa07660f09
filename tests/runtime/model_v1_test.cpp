#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/edits.h"
#include "tests/runtime/models.h"

// Files in old/ were written by the writer of version 1, which is gone.
namespace hewn::runtime {
namespace {

std::filesystem::path old(const std::string& name) {
  return std::string(HEWN_SOURCE_DIR) + "/tests/runtime/old/" + name;
}

/// The file: input 3x4x4, conv "a" to 8 channels in blocks of 4x4 (7 x 2 of them, all kept), relu, flatten,
/// linear "b" to 5 outputs.
const std::vector<Edit>& edits() {
  static const std::vector<Edit> kEdits = {
      {"no format", [](Parts& p) { p.metadata.erase("hewn.format"); }},
      {"another format", [](Parts& p) { p.metadata["hewn.format"] = "4"; }, "reads 1 and 2"},
      {"general tensors", [](Parts& p) { p.metadata["hewn.format"] = "3"; }, "hewn_network_load"},
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
      {"no bias", [](Parts& p) { p.tensors.erase("a.bias"); }, "bias"},
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

TEST(ModelV1, RefusesHostileFiles) {
  expect_refused(old("images.hewn"), edits());
  expect_refused(old("images.hewn"), tensor_edits());
}

TEST(ModelV1, RefusesHostileEmbeddings) {
  expect_refused(old("clicks.hewn"), embedding_edits());
  const std::string bytes = read_file(old("clicks.hewn"));
  Limits limits;
  limits.table_floats = 14;
  EXPECT_NO_THROW(parse_model(bytes, "m", limits));
  limits.table_floats = 13;
  EXPECT_THROW(parse_model(bytes, "m", limits), FormatError);
}

/// What the program that wrote the files got from them.
TEST(ModelV1, GivesTheSameOutputs) {
  const std::map<std::string, std::vector<float>> outputs = {
      {"images.hewn", {-0.65844029F, -1.4163942F, 1.6915721F, -0.24120493F, 0.42038977F}},
      {"bf16.hewn", {-0.099359214F, -0.063191578F, 0.02930633F, 0.24321595F, 0.28960693F}},
      {"clicks.hewn", {-0.66046143F, 0.39846662F, 0.65809357F, -0.51859975F, -0.59641087F}}};
  for (const auto& [name, expected] : outputs) {
    SCOPED_TRACE(name);
    const ModelData data = read_model(old(name));
    EXPECT_EQ(data.model, "test");
    EXPECT_EQ(data.method, "none");
    EXPECT_TRUE(data.classes.empty() && data.preprocessing.is_null() && data.metadata.empty());
    const std::vector<float> input = inputs_for(data.graph, 1, 1);
    std::vector<float> output(expected.size());
    Model(data).run(input.data(), 1, output.data());
    EXPECT_LT(largest_difference(output, expected), 1e-5);
    // Written anew, it is of version 2 and the same model.
    const ModelData anew = parse_model(bytes_of(data), "m", {});
    EXPECT_EQ(anew.graph, data.graph);
    std::vector<float> again(expected.size());
    Model(anew).run(input.data(), 1, again.data());
    EXPECT_LT(largest_difference(again, output), 1e-5);
  }
}

}  // namespace
}  // namespace hewn::runtime
