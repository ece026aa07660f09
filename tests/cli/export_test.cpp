// train -> export -> predict, and what these commands refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"
#include "hewn/io/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

class ExportCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    write_tiny_mnist(*folder_ / "data", 600, 130);
    const Outcome outcome =
        hewn({"train", "--data", data(), "--widths", "96,96", "--block", "8", "--sparsity", "0.75", "--batch",
              "50", "--epochs", "3", "--quiet", "--out", path("run")});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return (*folder_ / name).string(); }
  static std::string data() { return "mnist:" + path("data"); }
  static Json json_of_call(const std::vector<std::string>& arguments) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
  static void expect_error(const std::vector<std::string>& arguments, const std::string& named) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  }

  static TempFolder* folder_;
};
TempFolder* ExportCommand::folder_ = nullptr;

TEST_F(ExportCommand, BenchTimesTheFile) {
  const Json exported = json_of_call({"export", path("run"), "--to", path("b.hewn"), "--json"});
  const Json points = json_of_call(
      {"bench", "file", path("b.hewn"), "--batch", "1,17", "--threads", "1,2", "--rounds", "1", "--json"});
  ASSERT_EQ(points.size(), 4U);
  for (const Json& point : points) {
    const auto at = [&](const char* key) { return point[key].get<double>(); };
    EXPECT_EQ(point["kind"], "file");
    EXPECT_EQ(point["model"], "mlp");
    EXPECT_EQ(point["block"], "8x8");
    EXPECT_NEAR(at("sparsity"), 0.75, 0.01);
    EXPECT_EQ(point["file_bytes"], exported["bytes"]);
    EXPECT_EQ(point["dense_bytes"], exported["bytes_dense"]);
    if (!point.contains("withheld")) {
      EXPECT_NEAR(at("speedup"), at("dense_ms") / at("sparse_ms"), 1e-9 * at("speedup"));
      EXPECT_NEAR(at("fraction_of_ideal"), at("speedup") * at("density"), 1e-9 * at("speedup"));
    }
    EXPECT_EQ(point["dense_candidates"].size(), point["batch"] == 1 ? 5U : 3U);
  }
}

TEST_F(ExportCommand, PredictEqualsEval) {
  const Json exported = json_of_call({"export", path("run"), "--to", path("m.hewn"), "--json"});
  EXPECT_EQ(exported["bytes"].get<uintmax_t>(), std::filesystem::file_size(path("m.hewn")));
  EXPECT_LT(exported["bytes"].get<double>(), 0.4 * exported["bytes_dense"].get<double>());
  ASSERT_EQ(exported["layers"].size(), 3U);
  EXPECT_TRUE(exported["layers"][0]["pruned"].get<bool>());
  EXPECT_FALSE(exported["layers"][2]["pruned"].get<bool>());

  const Json eval = json_of_call({"eval", path("run"), "--json"});
  const Json predicted = json_of_call({"predict", path("m.hewn"), "--data", data(), "--batch", "48", "--out",
                                       path("p.csv"), "--logits", path("logits.safetensors"), "--json"});
  EXPECT_EQ(predicted["metrics"]["accuracy"], eval["metrics"]["accuracy"]);
  EXPECT_NEAR(predicted["metrics"]["loss"].get<double>(), eval["metrics"]["loss"].get<double>(), 1e-4);
  EXPECT_EQ(predicted["samples"], 130);

  const std::string csv = read_file(path("p.csv"));
  EXPECT_TRUE(csv.starts_with("sample,class,score,name\n0,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 131);
  EXPECT_EQ(io::read_safetensors(path("logits.safetensors")).tensors.at("logits").shape,
            (std::vector<int64_t>{130, 10}));

  EXPECT_EQ(
      json_of_call({"export", path("run"), "--to", path("h.hewn"), "--dtype", "bf16", "--json"})["dtype"],
      "bf16");
  EXPECT_LT(std::filesystem::file_size(path("h.hewn")), std::filesystem::file_size(path("m.hewn")) * 6 / 10);
  EXPECT_EQ(json_of_call({"predict", path("h.hewn"), "--data", data(), "--limit", "60", "--json"})["samples"],
            60);
}

TEST_F(ExportCommand, EightBitsAnswerAsTheRunDoes) {
  const Json exported =
      json_of_call({"export", path("run"), "--to", path("i.hewn"), "--dtype", "int8", "--json"});
  EXPECT_EQ(exported["bytes"].get<uintmax_t>(), std::filesystem::file_size(path("i.hewn")));
  EXPECT_LT(exported["bytes"].get<double>(), 0.2 * exported["bytes_dense"].get<double>());
  EXPECT_EQ(exported["calibration"],
            str("the first 512 training samples of ", data(), " in the order of seed 0"));
  EXPECT_EQ(exported["kept_f32"].size(), 0U);
  for (const Json& layer : exported["layers"]) EXPECT_EQ(layer["dtype"], "int8") << layer;
  EXPECT_GE(exported["removed"]["units"], 0);

  const Json eval = json_of_call({"eval", path("run"), "--json"})["metrics"];
  const Json predicted =
      json_of_call({"predict", path("i.hewn"), "--data", data(), "--out", path("i.csv"), "--json"});
  EXPECT_EQ(predicted["samples"], 130);
  EXPECT_NEAR(predicted["metrics"]["accuracy"].get<double>(), eval["accuracy"].get<double>(), 2);
  EXPECT_NEAR(predicted["metrics"]["loss"].get<double>(), eval["loss"].get<double>(), 0.05);
  EXPECT_TRUE(read_file(path("i.csv")).starts_with("sample,class,score,name\n0,"));
  const std::vector<float> sample(784, 0.25F);
  write_text(path("x.npy"), io::npy_bytes(1, 784, sample.data()));
  EXPECT_EQ(json_of_call({"predict", path("i.hewn"), "input=" + path("x.npy"), "--json"})["class"].size(),
            1U);
  const Json seen = json_of_call({"inspect", path("i.hewn"), "--json"});
  EXPECT_EQ(seen["layers"].size(), 3U);
  EXPECT_EQ(seen["bytes"], exported["bytes"]);
  EXPECT_EQ(seen["classes"].size(), 10U);
  EXPECT_EQ(json_of_call({"bench", "file", path("i.hewn"), "--batch", "1", "--rounds", "1", "--json"})["rows"]
                .size(),
            1U);

  // Weights from elsewhere, inputs from a file, a layer left alone.
  write_text(path("c.npy"), io::npy_bytes(io::NpyArray{{7, 1, 28, 28}, std::vector<float>(7 * 784, 0.5F)}));
  const Json other = json_of_call({"export",        path("run/model.safetensors"),
                                   "--model",       "mlp",
                                   "--widths",      "96,96",
                                   "--data",        data(),
                                   "--to",          path("j.hewn"),
                                   "--dtype",       "int8",
                                   "--calibration", path("c.npy"),
                                   "--samples",     "5",
                                   "--percentile",  "100",
                                   "--keep-f32",    "fc3",
                                   "--json"});
  EXPECT_EQ(other["calibration"], path("c.npy"));
  ASSERT_EQ(other["kept_f32"].size(), 1U);
  EXPECT_EQ(other["kept_f32"][0]["name"], "fc3");
  EXPECT_EQ(other["layers"][2]["dtype"], "f32");
  expect_error({"export", path("run"), "--to", path("k.hewn"), "--dtype", "int8", "--keep-f32", "fc9"},
               "keep-f32: there is no layer fc9; there are fc1, fc2, fc3");
  expect_error({"export", path("run"), "--to", path("k.onnx"), "--dtype", "int8"}, "dtype: applies to .hewn");
  expect_error({"export", path("run"), "--to", path("k.hewn"), "--samples", "5"},
               "samples: goes with --dtype int8");
  EXPECT_FALSE(std::filesystem::exists(path("k.hewn")));
}

TEST_F(ExportCommand, StateDictsOfPyTorchAreTakenAsWeights) {
  const Json exported = json_of_call({"export", path("run"), "--to", path("m.pt"), "--json"});
  EXPECT_EQ(exported["bytes"].get<uintmax_t>(), std::filesystem::file_size(path("m.pt")));
  const std::vector<std::string> model = {"--model", "mlp", "--widths", "96,96", "--data", data()};
  const auto metrics = [&](const std::string& file) {
    std::vector<std::string> arguments = {"eval", file, "--json"};
    arguments.insert(arguments.end(), model.begin(), model.end());
    return json_of_call(arguments)["metrics"];
  };
  const Json run = json_of_call({"eval", path("run"), "--json"})["metrics"];
  EXPECT_EQ(metrics(path("m.pt")), metrics(path("run/model.safetensors")));
  EXPECT_EQ(metrics(path("m.pt"))["accuracy"], run["accuracy"]);
  EXPECT_EQ(json_of_call({"inspect", path("m.pt"), "--json"})["layers"].size(), 3U);
  std::vector<std::string> arguments = {"train",   "--init", path("m.pt"), "--method", "dense",
                                        "--steps", "2",      "--quiet",    "--out",    path("further")};
  arguments.insert(arguments.end(), model.begin(), model.end());
  const Outcome trained = hewn(arguments);
  EXPECT_EQ(trained.code, 0) << trained.err;
  expect_error({"inspect", HEWN_SOURCE_DIR "/tests/io/torch/legacy.pt"}, "before 1.6");
}

TEST_F(ExportCommand, RefusesInOneLine) {
  expect_error({"export", path("run")}, "--to");
  expect_error({"export", path("run"), "--to", path("x.hewn"), "--dtype", "f16"}, "bf16");
  expect_error({"export", path("run"), "--to", path("nowhere/x.hewn")}, "nowhere");
  expect_error({"export", path("absent"), "--to", path("x.hewn")}, "no such file or folder");
  std::filesystem::create_directories(path("unfinished"));
  std::filesystem::copy(path("run") + "/config.json", path("unfinished"));
  expect_error({"export", path("unfinished"), "--to", path("x.hewn")}, "not finished");
  EXPECT_FALSE(std::filesystem::exists(path("x.hewn")));

  hewn({"export", path("run"), "--to", path("n.hewn")});
  expect_error({"predict", path("n.hewn")}, "--data");
  expect_error({"predict", path("n.hewn"), "--data", "cifar10:" + path("data")}, "3x32x32");
  expect_error({"predict", path("n.hewn"), "--data", data(), "--batch", "0"}, "batch");
  expect_error({"predict", path("absent.hewn"), "--data", data()}, "absent.hewn");
  std::string bytes = read_file(path("n.hewn"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_text(path("damaged.hewn"), bytes);
  expect_error({"predict", path("damaged.hewn"), "--data", data()}, "checksum");
}

}  // namespace
}  // namespace hewn::test
