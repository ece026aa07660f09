#include "tests/runtime/edits.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/runtime/model.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {

void Parts::replace(const std::string& from, const std::string& to) {
  std::string& graph = metadata.at("hewn.graph");
  const size_t at = graph.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << graph;
  graph.replace(at, from.size(), to);
}

void expect_refused(const std::filesystem::path& good, const std::vector<Edit>& edits) {
  const test::TempFolder folder;
  const io::SafetensorsFile file = io::read_safetensors(good, true);
  EXPECT_NO_THROW(Model::load(good));
  const std::string path = folder / "bad.hewn";
  for (const Edit& edit : edits) {
    SCOPED_TRACE(edit.name);
    Parts parts{file.metadata, file.tensors, {}};
    parts.storage.reserve(8);
    edit.apply(parts);
    io::write_safetensors(path, parts.metadata, parts.tensors, true);
    try {
      Model::load(path);
      ADD_FAILURE() << "was accepted";
    } catch (const FormatError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path + ": ")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
      EXPECT_NE(message.find(edit.says), std::string::npos) << message;
    }
  }
}

const std::vector<Edit>& tensor_edits() {
  static const std::vector<Edit> kEdits = {
      {"missing tensor", [](Parts& p) { p.tensors.erase("a.crow"); }},
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

}  // namespace hewn::runtime
