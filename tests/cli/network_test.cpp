// An ONNX file through the program: import, inspect, predict, bench.
#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

// One of ONNX's own: Relu of a float tensor x of 3x4x5, which gives y.
const std::string kRelu = "/usr/share/libonnx-testdata/data/node/test_relu/model.onnx";

class Networks : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_there(kRelu)) GTEST_SKIP() << "libonnx-testdata is not installed";
    io::NpyArray x{{3, 4, 5}, std::vector<float>(60)};
    for (size_t i = 0; i < 60; ++i) std::get<0>(x.values)[i] = static_cast<float>(i) - 30;
    write_file_atomically(path("x.npy"), io::npy_bytes(x));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static void expect_error(const std::vector<std::string>& arguments, const std::string& said) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  TempFolder folder_;
};

TEST_F(Networks, FromAnOnnxFileToItsOutputs) {
  EXPECT_EQ(hewn({"import", kRelu, "--to", path("m.hewn")}).code, 0);
  const Json inspected = Json::parse(hewn({"inspect", path("m.hewn"), "--json"}).out);
  EXPECT_EQ(inspected["inputs"][0]["name"], "x");
  for (const std::string& model : {kRelu, path("m.hewn")}) {
    EXPECT_EQ(hewn({"predict", model, "x=" + path("x.npy"), "--out", path("y.npy")}).code, 0);
    const io::NpyArray y = io::read_npy_array(path("y.npy"));
    EXPECT_EQ(y.dims, (std::vector<int64_t>{3, 4, 5}));
    for (size_t i = 0; i < 60; ++i)
      EXPECT_EQ(std::get<0>(y.values)[i], i < 30 ? 0 : static_cast<float>(i) - 30);
  }
  EXPECT_EQ(hewn({"predict", path("m.hewn"), path("x.npy"), "--out", path("y.npz")}).code, 0);
  EXPECT_EQ(io::npz_arrays(path("y.npz")), std::vector<std::string>{"y"});
  EXPECT_EQ(hewn({"bench", "file", path("m.hewn"), "--batch", "1", "--rounds", "1", "--layers"}).code, 0);
}

TEST_F(Networks, InEightBits) {
  const std::string recorded = std::string(HEWN_SOURCE_DIR) + "/tests/onnx/recorded/tiny";
  const Outcome made = hewn({"import", recorded + ".onnx", "--to", path("m8.hewn"), "--dtype", "int8",
                             "--calibration", recorded + ".in.x.npy"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(hewn({"inspect", path("m8.hewn")}).out.find("int8"), std::string::npos);
  EXPECT_EQ(hewn({"predict", path("m8.hewn"), recorded + ".in.x.npy", "--out", path("y8.npz")}).code, 0);
  const io::NpyMatrix found = io::read_npz(path("y8.npz"), "log_softmax");
  const io::NpyArray wanted = io::read_npy_array(recorded + ".out.log_softmax.npy");
  ASSERT_EQ(found.values.size(), 10U);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_NEAR(found.values[i % 5 * 2 + i / 5], std::get<0>(wanted.values)[i], 0.05) << i;  // by columns
  expect_error({"import", recorded + ".onnx", "--to", path("n.hewn"), "--dtype", "int8"},
               "calibration: --dtype int8 needs inputs");
  EXPECT_FALSE(is_there(path("n.hewn")));
}

TEST_F(Networks, InBf16) {
  const std::string recorded = std::string(HEWN_SOURCE_DIR) + "/tests/onnx/recorded/tiny";
  const Outcome made = hewn({"import", recorded + ".onnx", "--to", path("m16.hewn"), "--dtype", "bf16"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(hewn({"inspect", path("m16.hewn")}).out.find("bf16"), std::string::npos);
  EXPECT_NE(hewn({"inspect", path("m16.hewn"), "--json"}).out.find("\"dtype\":\"bf16\""), std::string::npos);
  EXPECT_EQ(hewn({"predict", path("m16.hewn"), recorded + ".in.x.npy", "--out", path("y16.npz")}).code, 0);
  const io::NpyMatrix found = io::read_npz(path("y16.npz"), "log_softmax");
  const io::NpyArray wanted = io::read_npy_array(recorded + ".out.log_softmax.npy");
  ASSERT_EQ(found.values.size(), 10U);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_NEAR(found.values[i % 5 * 2 + i / 5], std::get<0>(wanted.values)[i], 0.05) << i;  // by columns
  expect_error(
      {"import", recorded + ".onnx", "--to", path("n.hewn"), "--dtype", "bf16", "--calibration", "x.npy"},
      "calibration: goes with --dtype int8 only");
  expect_error(
      {"import", recorded + ".onnx", "--to", path("n.hewn"), "--dtype", "bf16", "--keep-f32", "nobody"},
      "keep-f32: there is no layer nobody");
  expect_error({"import", recorded + ".onnx", "--to", path("n.hewn"), "--keep-f32", "nobody"},
               "keep-f32: goes with --dtype int8 or bf16 only");
  EXPECT_FALSE(is_there(path("n.hewn")));
}

TEST_F(Networks, CalibratedOnFolders) {
  const std::string recorded = std::string(HEWN_SOURCE_DIR) + "/tests/onnx/recorded/tiny";
  const io::NpyArray all = io::read_npy_array(recorded + ".in.x.npy");
  const auto& values = std::get<0>(all.values);
  const auto each = static_cast<int64_t>(values.size()) / all.dims[0];
  std::filesystem::create_directories(path("rows"));
  for (int64_t i = 0; i < all.dims[0]; ++i) {
    // One has its samples counted, the others are samples.
    const std::vector<int64_t> dims = i == 0 ? std::vector<int64_t>{1, 4, 64} : std::vector<int64_t>{4, 64};
    const std::vector<float> sample(values.begin() + i * each, values.begin() + (i + 1) * each);
    write_file_atomically(path("rows/" + std::to_string(i) + ".npy"),
                          io::npy_bytes(io::NpyArray{dims, sample}));
  }
  const auto prune = [&](const std::string& from, const std::string& to) {
    return hewn({"prune", recorded + ".onnx", "--block", "4", "--min-blocks", "4", "--calibration", from,
                 "--to", path(to)});
  };
  EXPECT_EQ(prune(recorded + ".in.x.npy", "a.onnx").code, 0);
  const Outcome outcome = prune(path("rows"), "b.onnx");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_file(path("a.onnx")), read_file(path("b.onnx")));
  std::filesystem::create_directories(path("none"));
  expect_error({"prune", recorded + ".onnx", "--calibration", path("none"), "--to", path("c.onnx")},
               "none: has no .npy files");
  write_file_atomically(path("rows/z.npy"), io::npy_bytes(io::NpyArray{{4, 63}, std::vector<float>(252)}));
  expect_error({"prune", recorded + ".onnx", "--calibration", path("rows"), "--to", path("c.onnx")},
               "z.npy: has shape (1, 4, 63)");
  EXPECT_FALSE(is_there(path("c.onnx")));
}

TEST_F(Networks, LatencyOfSingleCalls) {
  const Outcome outcome =
      hewn({"bench", "file", kRelu, "--batch", "1", "--latency", "--calls", "200", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json row = Json::parse(outcome.out)["rows"][0];
  EXPECT_EQ(row["calls"], 200);
  EXPECT_LE(row["p50"].get<double>(), row["p95"].get<double>());
  EXPECT_LE(row["p95"].get<double>(), row["p99"].get<double>());
  EXPECT_LE(row["p99"].get<double>(), row["max"].get<double>());
  int64_t counted = 0;
  for (const Json& bin : row["histogram"]) counted += bin["calls"].get<int64_t>();
  EXPECT_EQ(counted, 200);
  expect_error({"bench", "file", kRelu, "--calls", "3"}, "calls: goes with --latency only");
  expect_error({"bench", "linear", "--latency"}, "latency: applies to files only");
}

TEST_F(Networks, WhatDoesNotFitIsSaidInOneLine) {
  expect_error({"import", kRelu}, "to: expected the file to write");
  expect_error({"import", kRelu, "--to", path("m.txt")}, "to: expected a name that ends in .hewn");
  expect_error({"import", path("x.npy"), "--to", path("m.hewn")}, "x.npy");
  expect_error({"predict", kRelu}, "INPUT: expected 1 (x), got 0");
  expect_error({"predict", kRelu, path("x.npy"), "--top-k", "2"}, "top-k: does not apply");
  io::NpyArray wrong{{2, 2}, std::vector<float>(4)};
  write_file_atomically(path("w.npy"), io::npy_bytes(wrong));
  expect_error({"predict", kRelu, path("w.npy")}, "input x: expected float 3x4x5, got float 2x2");
  EXPECT_FALSE(is_there(path("m.hewn")));
}

}  // namespace
}  // namespace hewn::test
