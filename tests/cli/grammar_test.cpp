// hewn VERB SOURCE... [--to MODEL] [--out RESULT] from the outside. Starting the program costs half a second:
// what the parts do is tested in tests/io/source_kind_test.cpp and tests/train/files_test.cpp. Everything
// runs on what hewn 0.1 wrote (tests/old), without training.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/source.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/npz.h"
#include "tests/support/message.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using io::SourceKind;

const std::string kOld = HEWN_SOURCE_DIR "/tests/old/";
const std::string kModel = kOld + "model.hewn";
const std::string kWeights = kOld + "finished/model.safetensors";

/// A finished run, files of other kinds under misleading names, and two samples.
class Grammar : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    write_tiny_mnist(*folder_ / "data", 640, 100);
    std::filesystem::copy(kOld + "finished", *folder_ / "run", std::filesystem::copy_options::recursive);
    std::string config = read_file(*folder_ / "run" / "config.json");
    config.replace(config.find("mnist:DATA"), 10, data());
    write_text(*folder_ / "run" / "config.json", config);
    write_text(path("torch.hewn"), "\x80\x02\x8a\nl\xfc\x9c");
    write_text(path("onnx.hewn"), std::string("\x08\x08\x3a\x04grap\x42\x02\x10\x11", 12));
    std::vector<float> values(size_t{2} * 784);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) / 97.0F;
    samples_ = new std::string(io::npy_bytes(2, 784, values.data()));
    write_text(path("x.npy"), *samples_);
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete samples_;
  }

  static std::string path(const std::string& name) { return (*folder_ / name).string(); }
  static std::string data() { return "mnist:" + path("data"); }
  static Json json_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
  static void expect_error(const std::vector<std::string>& arguments, const std::string& said) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("hewn: " + said)) << outcome.err << "expected: " << said;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  }

  static TempFolder* folder_;
  static std::string* samples_;
};
TempFolder* Grammar::folder_ = nullptr;
std::string* Grammar::samples_ = nullptr;

TEST_F(Grammar, OtherKindsAreRefusedByName) {
  const auto said = [](const std::string& file, const std::vector<SourceKind>& taken) {
    return message_of([&] { cli::source_kind("eval", file, taken); });
  };
  EXPECT_EQ(said(kModel, {SourceKind::kRun}),
            kModel + ": is a model.hewn file; hewn eval takes a run folder");
  EXPECT_EQ(
      said(path("data"), {SourceKind::kRun, SourceKind::kModel, SourceKind::kWeights}),
      path("data") +
          ": is a folder without a run's config.json; hewn eval takes a run folder, a model.hewn file or "
          "a weights file (safetensors)");
  EXPECT_EQ(said(path("absent"), {SourceKind::kRun}), path("absent") + ": no such file or folder");
  EXPECT_EQ(cli::source_kind("eval", path("run"), {SourceKind::kWeights, SourceKind::kRun}),
            SourceKind::kRun);
}

TEST_F(Grammar, CommandsLookAtTheContentOfSources) {
  expect_error({"inspect", path("onnx.hewn")}, path("onnx.hewn") + ": is not an ONNX model");
  expect_error({"predict", path("torch.hewn"), path("x.npy")},
               path("torch.hewn") + ": is a PyTorch file; hewn predict takes");
  expect_error({"eval", kModel},
               kModel + ": is a model.hewn file; hewn eval takes a run folder, a weights file");
}

TEST_F(Grammar, SuffixesAreFormats) {
  expect_error({"export", path("run"), "--to", path("m.docx")}, "to: ");
  expect_error({"predict", kModel, path("x.npy"), "--out", path("m.txt")},
               "out: expected a file that ends in");
  EXPECT_FALSE(std::filesystem::exists(path("m.docx")));
  EXPECT_FALSE(std::filesystem::exists(path("m.txt")));
}

TEST_F(Grammar, PredictTakesFilesRunsAndStandardInput) {
  const Outcome table = hewn({"predict", path("run"), "input=" + path("x.npy"), path("x.npy")});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("sample  class   score  output 0")) << table.out;
  EXPECT_NE(table.out.find("4 samples"), std::string::npos) << table.out;
  const Json json = json_of(hewn_fed(*samples_, {"predict", kModel, "-", "--json", "--out", path("p.npz")}));
  EXPECT_EQ(json["class"].size(), 2U);
  const io::NpyMatrix raw = io::read_npz(path("p.npz"), "output");
  EXPECT_EQ(raw.rows, 2);
  EXPECT_EQ(json["output"][1][3].get<double>(), raw.values[7]);
}

TEST_F(Grammar, OneSpellingForAll) {
  const Json eval =
      json_of(hewn({"eval", kWeights, "--model", "mlp", "--widths", "8", "--data", data(), "--json"}));
  EXPECT_EQ(eval["metrics"]["accuracy"], 83.0);
  ASSERT_EQ(hewn({"report", path("run"), "--no-latency", "--out", path("r.json")}).code, 0);
  EXPECT_EQ(Json::parse(read_file(path("r.json")))["runs"].size(), 1U);
  const Json selected = json_of(hewn({"select", path("run"), "--layer", "fc1", "--samples", "20", "--k", "3",
                                      "--out", path("run2"), "--json"}));
  EXPECT_EQ(selected["kept"], 3);
  EXPECT_TRUE(std::filesystem::exists(path("run2/model.safetensors")));
  const Outcome inspected = hewn({"inspect", kModel});
  EXPECT_NE(inspected.out.find("78 of "), std::string::npos) << inspected.out << inspected.err;
}

}  // namespace
}  // namespace hewn::test
