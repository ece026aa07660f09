// hewn bench and hewn advise: the JSON that scripts rely on, and bad input.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

Json json_of_call(const std::vector<std::string>& arguments) {
  const Outcome outcome = hewn(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

void expect_consistent(const Json& part) {
  const auto at = [&](const char* key) { return part[key].get<double>(); };
  if (part.contains("withheld")) {  // several threads on a busy machine
    EXPECT_TRUE(part["speedup"].is_null() && part["fraction_of_ideal"].is_null()) << part;
  } else {
    EXPECT_NEAR(at("speedup"), at("dense_ms") / at("sparse_ms"), 1e-9 * at("speedup"));
    EXPECT_NEAR(at("fraction_of_ideal"), at("speedup") * at("density"), 1e-9 * at("speedup"));
  }
  EXPECT_TRUE(part["dense_baseline"].is_string());
  EXPECT_FALSE(part["dense_candidates"].empty());
}

TEST(Bench, LinearPoint) {
  const Json point =
      json_of_call({"bench", "linear", "--batch", "20", "--in", "64", "--out", "48", "--block", "8",
                    "--sparsity", "0.75", "--rounds", "2", "--gradients", "--break-even", "--json"});
  ASSERT_TRUE(point.is_object());
  EXPECT_EQ(point["batch"], 20);
  EXPECT_EQ(point["threads"], 1);
  EXPECT_EQ(point["density"], 0.25);
  EXPECT_GT(point["sparse_rowmajor_ms"].get<double>(), 0);
  EXPECT_TRUE(point.contains("break_even_sparsity"));
  expect_consistent(point);
  expect_consistent(point["grad_input"]);
  expect_consistent(point["grad_weight"]);
}

TEST(Bench, ListsGiveEveryCombination) {
  const Json points =
      json_of_call({"bench", "linear", "--in", "32", "--out", "32", "--batch", "1,8", "--block", "4,8x16",
                    "--sparsity", "0.5,0.75", "--threads", "1,2", "--rounds", "1", "--json"});
  ASSERT_EQ(points.size(), 16U);
  EXPECT_EQ(points[0]["block"], "4x4");
  EXPECT_EQ(points[1]["sparsity"], 0.75);
  EXPECT_EQ(points[2]["block"], "8x16");
  EXPECT_EQ(points[15]["threads"], 2);
  for (const Json& point : points) expect_consistent(point);
}

TEST(Bench, ConvPointAndTable) {
  const std::vector<std::string> words = {"bench",  "conv", "--batch", "3", "--in",     "8", "--out", "8",
                                          "--size", "6",    "--block", "4", "--rounds", "1"};
  const Outcome table = hewn(words);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("speed-up"), std::string::npos);
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--gradients", "--json"});
  const Json point = json_of_call(more);
  EXPECT_EQ(point["size"], 6);
  expect_consistent(point);
  expect_consistent(point["grad_weight"]);
}

void expect_network(const Json& point) {
  expect_consistent(point);
  EXPECT_GT(point["file_bytes"].get<int64_t>(), 0);
  EXPECT_GT(point["dense_bytes"].get<int64_t>(), 0);
  EXPECT_TRUE(point["clock"].is_string());
  EXPECT_GE(point["rounds"].get<int64_t>(), 1);
  EXPECT_TRUE(point["instructions"].is_string());
  double best = 1e30;
  bool named = false;
  for (const Json& candidate : point["dense_candidates"]) {
    best = std::min(best, candidate.value("ms", 1e30));
    named = named || candidate["name"] == point["dense_baseline"];
  }
  EXPECT_EQ(point["dense_ms"].get<double>(), best);
  EXPECT_TRUE(named);
}

TEST(Bench, ModelMlp) {
  const Json points =
      json_of_call({"bench", "model", "--widths", "64,48", "--block", "8", "--sparsity", "0.75", "--batch",
                    "1,9", "--threads", "1,2", "--min-blocks", "20", "--rounds", "1", "--json"});
  ASSERT_EQ(points.size(), 4U);
  for (const Json& point : points) {
    EXPECT_EQ(point["model"], "mlp");
    EXPECT_EQ(point["block"], "8x8");
    EXPECT_EQ(point["sparsity"], 0.75);
    EXPECT_EQ(point["dense_bytes"], 4 * (784 * 64 + 64 + 64 * 48 + 48 + 48 * 10 + 10));
    EXPECT_LT(point["file_bytes"].get<double>(), 0.4 * point["dense_bytes"].get<double>());
    EXPECT_EQ(point["dense_candidates"].size(), point["batch"] == 1 ? 6U : 4U);
    expect_network(point);
  }
}

TEST(Bench, ClickModelHasItsUsualLayers) {
  const Json points = json_of_call({"bench", "model", "--model", "ctr-dnn", "--sparsity", "0.8", "--batch",
                                    "1,9", "--rounds", "1", "--json"});
  ASSERT_EQ(points.size(), 2U);
  for (const Json& point : points) {
    const int64_t layers = 390 * 400 + 400 + 2 * (400 * 400 + 400) + 400 + 1;
    EXPECT_EQ(point["dense_bytes"], 4 * (39 * 1000 * 10 + layers));
    // Of the layers only the first is pruned.
    EXPECT_NEAR(point["density"].get<double>(), (0.2 * 390 + 400 + 400 + 1) / (390 + 400 + 400 + 1), 0.01);
    EXPECT_EQ(point["dense_candidates"][0]["name"], "model");
    for (const Json& candidate : point["dense_candidates"])
      EXPECT_TRUE(candidate.contains("ms")) << candidate;
    expect_network(point);
  }
  const Json narrow = json_of_call(
      {"bench", "model", "--model", "ctr-dnn", "--widths", "32", "--batch", "3", "--rounds", "1", "--json"});
  EXPECT_EQ(narrow["dense_bytes"], 4 * (39 * 1000 * 10 + 390 * 32 + 32 + 32 + 1));
}

TEST(Bench, FileWithAnEmbedding) {
  const Json point = json_of_call({"bench", "file", "--file",
                                   std::string(HEWN_SOURCE_DIR) + "/tests/fuzz/model_loader/10.hewn",
                                   "--batch", "5", "--rounds", "1", "--json"});
  EXPECT_EQ(point["dense_bytes"], 4 * (321 * 3 + 15 * 20 + 20 + 20 * 2 + 2));
  expect_network(point);
}

TEST(Bench, ModelResnetPointAndTable) {
  const std::vector<std::string> words = {
      "bench",   "model", "--model",      "resnet20", "--data",  "cifar10", "--width",  "16",
      "--block", "8",     "--min-blocks", "20",       "--batch", "2",       "--rounds", "1"};
  const Outcome table = hewn(words);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("fastest dense"), std::string::npos);
  EXPECT_EQ(table.out.find("break-even"), std::string::npos);
  std::vector<std::string> more = words;
  more.emplace_back("--json");
  const Json point = json_of_call(more);
  EXPECT_EQ(point["model"], "resnet20");
  EXPECT_EQ(point["dense_candidates"].size(), 5U);
  EXPECT_LT(point["density"].get<double>(), 0.5);
  expect_network(point);
}

TEST(Advise, TinyMlp) {
  const Json advice =
      json_of_call({"advise", "mlp", "--widths", "96,96", "--batch", "8", "--quick", "--json"});
  EXPECT_EQ(advice["batch"], 8);
  EXPECT_EQ(advice["blocks"].size(), 3U);
  EXPECT_EQ(advice["settings"].size(), 6U);
  EXPECT_TRUE(advice["advice"].is_string());
  for (const Json& s : advice["settings"]) {
    EXPECT_NEAR(s["speedup"].get<double>(), s["dense_ms"].get<double>() / s["sparse_ms"].get<double>(), 1e-6);
  }
}

TEST(Advise, CostsOfATinyMlp) {
  const TempFolder folder;
  const std::string file = (folder / "costs.json").string();
  const Json costs = json_of_call({"advise", "mlp", "--widths", "96,96", "--batch", "8", "--quick", "--json",
                                   "--block", "8", "--costs", file});
  EXPECT_EQ(costs, Json::parse(read_file(file)));
  EXPECT_EQ(costs["block"], "8x8");
  EXPECT_EQ(costs["threads"], 1);
  EXPECT_EQ(costs["layers"].size(), 3U);
  EXPECT_EQ(costs["layers"]["fc2"]["blocks"], 144);
}

TEST(Bench, BadInputNamesTheOption) {
  const auto expect_error = [](const std::vector<std::string>& arguments, const std::string& named) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  };
  expect_error({"bench"}, "KIND");
  expect_error({"bench", "linaer"}, "linear, conv, model, file");
  for (const char* sparsity : {"1", "-0.1", "nan", "0.5,1", "0.5,,0.6", "x"}) {
    expect_error({"bench", "linear", "--sparsity", sparsity}, "sparsity");
  }
  expect_error({"bench", "linear", "--block", "2048"}, "block");
  expect_error({"bench", "linear", "--block", "0"}, "block");
  expect_error({"bench", "linear", "--batch", "0"}, "batch");
  expect_error({"bench", "linear", "--in", "1024,0"}, "in:");
  expect_error({"bench", "linear", "--threads", "-1"}, "threads");
  expect_error({"bench", "linear", "--rounds", "0"}, "rounds");
  expect_error({"bench", "linear", "--kernel", "3"}, "kernel");
  expect_error({"bench", "conv", "--kernel", "99"}, "kernel");
  expect_error({"bench", "conv", "--stride", "0"}, "stride");
  expect_error({"bench", "linear", "--model", "mlp"}, "model");
  expect_error({"bench", "model", "--model", "mpl"}, "mlp");
  expect_error({"bench", "model", "--data", "cifar11"}, "cifar10");
  expect_error({"bench", "model", "--widths", "64,x"}, "widths");
  expect_error({"bench", "model", "--model", "resnet18", "--width", "0"}, "width");
  expect_error({"bench", "model", "--sparsity", "0.5,1"}, "sparsity");
  expect_error({"bench", "model", "--block", "4096"}, "block");
  expect_error({"bench", "model", "--batch", "0"}, "batch");
  expect_error({"bench", "model", "--threads", "-1"}, "threads");
  expect_error({"bench", "model", "--gradients"}, "gradients");
  expect_error({"bench", "model", "--in", "3"}, "in:");
  expect_error({"bench", "model", "--device", "gpu"}, "device");
  expect_error({"bench", "linear", "--device", "cuda"}, "device");
  expect_error({"bench", "file"}, "file");
  expect_error({"bench", "file", "--file", "/nowhere/model.hewn"}, "/nowhere/model.hewn");
  expect_error({"bench", "file", "/dev/null"},
               "/dev/null: is a pipe, a device or a socket; hewn bench file takes");
  expect_error({"bench", "file", "--block", "8"}, "block");
  expect_error({"advise", "mpl"}, "mlp");
  expect_error({"advise", "mlp", "--block", "8"}, "block: ");
  expect_error({"advise", "mlp", "--batch", "0"}, "batch");
}

}  // namespace
}  // namespace hewn::test
