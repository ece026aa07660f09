// What a file carries for new data: a rule, its arrays and names of classes, in models and in runs.
#include "hewn/runtime/preprocessing.h"

#include <gtest/gtest.h>

#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/edits.h"
#include "tests/runtime/models.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

using test::message_of;

const Arrays kArrays = {{"0.values", std::vector<int64_t>{-1, std::numeric_limits<int64_t>::min(), 7}},
                        {"1.cuts", std::vector<double>{0, 0.1, 1e300}},
                        {"2.values", std::vector<int64_t>{}}};

ModelData click_model() {
  Graph graph;
  graph.linear("a", graph.embedding("e", graph.input({3, 1, 1}), {5, 4, 2}, 2), 1);
  ModelData model = with_weights(graph, {2, 2}, Pattern::kFull);
  model.classes = {"no", "yes"};
  model.preprocessing = {{"kind", "clicks"}};
  model.arrays = kArrays;
  return model;
}

TEST(PreprocessingFile, ArraysComeBackAsTheyWere) {
  const test::TempFolder folder;
  for (const io::DType type : {io::DType::kF32, io::DType::kBF16}) {
    write_model(folder / "m.hewn", click_model(), type);
    EXPECT_EQ(read_model(folder / "m.hewn").arrays, kArrays);
    const Model model = Model::load(folder / "m.hewn");
    EXPECT_EQ(model.arrays(), kArrays);
    EXPECT_EQ(model.classes(), click_model().classes);
  }
}

TEST(PreprocessingFile, OtherTensorsAreRefused) {
  const test::TempFolder folder;
  write_model(folder / "m.hewn", click_model());
  expect_refused(
      folder / "m.hewn",
      {{"a matrix",
        [](Parts& p) {
          p.tensor("preprocessing.0.values").shape = {3, 1};
        },
        "one dimension"},
       {"another type", [](Parts& p) { p.tensors["preprocessing.0.values"] = p.tensors["a.bias"]; },
        R"("preprocessing.0.values" is neither of type I64 nor F64)"},
       {"no rule", [](Parts& p) { p.metadata.erase("hewn.preprocessing"); }, "does not describe"},
       {"not quite their name",
        [](Parts& p) { p.tensors["preprocessing"] = p.tensors["preprocessing.0.values"]; },
        "no layer uses"}});
}

TEST(PreprocessingFile, ARunKeepsItInAFileOfItsOwn) {
  const test::TempFolder folder;
  const auto path = folder / "inputs.safetensors";
  write_preprocessing(path, {{"a", "b", "c"}, {{"kind", "image"}, {"size", {4, 4}}}, kArrays});
  const Preprocessing back = read_preprocessing(path, 3);
  EXPECT_EQ(back.classes, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(back.rule["size"], Json({4, 4}));
  EXPECT_EQ(back.arrays, kArrays);
  EXPECT_EQ(message_of([&] { read_preprocessing(path, 4); }),
            path.string() + ": hewn.classes has 3 names for 4 outputs");
  std::string bytes = read_file(path);
  bytes[bytes.size() / 2] ^= 1;
  test::write_text(path, bytes);
  EXPECT_NE(message_of([&] { read_preprocessing(path, 3); }), "");

  write_preprocessing(path, {});  // a source that knows nothing
  const Preprocessing nothing = read_preprocessing(path, 10);
  EXPECT_TRUE(nothing.classes.empty() && nothing.rule.is_null() && nothing.arrays.empty());
  EXPECT_EQ(plain_class_name("a\tb\xff"), "a?b\xef\xbf\xbd");
}

}  // namespace
}  // namespace hewn::runtime
