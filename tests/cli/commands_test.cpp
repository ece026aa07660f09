// The JSON that scripts rely on, and that a config file says the same as the options.
#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/safetensors.h"
#include "tests/support/click_logs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

Json json_of_call(const std::vector<std::string>& arguments) {
  const Outcome outcome = hewn(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

TEST(Commands, PlanOfResnet50) {
  const Json plan =
      json_of_call({"plan", "--model", "resnet50", "--block", "32", "--sparsity", "0.9", "--json"});
  EXPECT_EQ(plan["layers_total"], 54);
  EXPECT_EQ(plan["layers_pruned"], 35);
  EXPECT_EQ(plan["requested_sparsity"], 0.9);
  EXPECT_NEAR(plan["realised_sparsity"].get<double>(), 0.875, 0.0006);
  const Json& layer = plan["layers"][3];
  for (const char* key : {"name", "shape", "grid", "blocks", "kept", "pruned", "realised_sparsity"}) {
    EXPECT_TRUE(layer.contains(key)) << key;
  }
}

TEST(Commands, PlanShowsWhatABudgetAllows) {
  const std::vector<std::string> words = {"plan", "--model",      "resnet20", "--block",
                                          "8",    "--min-blocks", "20"};
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    more.emplace_back("--json");
    return json_of_call(more);
  };
  const Json flops = plan({"--budget", "flops=0.2"});
  EXPECT_EQ(flops["budget"]["unit"], "multiply-adds");
  EXPECT_EQ(flops["budget"]["dense"], flops["products_dense"]);
  EXPECT_NEAR(flops["budget"]["limit"].get<double>() / flops["products_dense"].get<double>(), 0.2, 1e-6);
  EXPECT_LT(flops["budget"]["for_blocks"], flops["budget"]["limit"]);
  EXPECT_TRUE(flops["layers"][1].contains("least"));
  EXPECT_FALSE(plan({})["layers"][1].contains("least"));

  const TempFolder folder;
  Json costs = {{"hewn", "0"},    {"model", "resnet20"}, {"data", ""},   {"input", {3, 32, 32}},
                {"block", "8x8"}, {"batch", 1},          {"threads", 1}, {"machine", "made up"}};
  for (const Json& layer : flops["layers"]) {
    const int64_t weights = layer["bytes_dense"].get<int64_t>() / 4;
    costs["layers"][layer["name"].get<std::string>()] = {
        {"blocks", layer["blocks"]},
        {"positions", layer["products_dense"].get<int64_t>() / weights},
        {"dense_ms", 1},
        {"fixed_ms", 0.1},
        {"block_ms", 0.01}};
  }
  const std::string file = (folder / "costs.json").string();
  write_text(file, costs.dump());
  const Json timed = plan({"--budget", "ms=12", "--costs", file});
  EXPECT_EQ(timed["budget"]["unit"], "ms");
  EXPECT_NEAR(timed["budget"]["limit"].get<double>(), 12, 1e-6);
  EXPECT_LE(timed["expected_ms_sparse"].get<double>(), 12);
  EXPECT_EQ(timed["expected_ms_dense"].get<double>(), static_cast<double>(timed["layers"].size()));
  EXPECT_NE(timed["limits"].dump().find("known after training"), std::string::npos);

  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    more.insert(more.begin(), words.begin(), words.end());
    const Outcome outcome = hewn(more);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
  };
  refused({"--budget", "ms=4"}, "budget: ms=4 needs costs");
  refused({"--costs", file}, "costs: are for budget ms=");
  refused({"--budget", "ms=1", "--costs", file}, "cannot be met");
}

TEST(Commands, PhasesOfSchedules) {
  const Json phases = json_of_call({"phases", "--method", "acdc", "--steps", "100", "--json"});
  ASSERT_EQ(phases.size(), 16U);
  EXPECT_EQ(phases[1], (Json{{"phase", "SPARSE"}, {"begin", 10}, {"end", 15}}));
  const Json mixed =
      json_of_call({"phases", "--method", "magnitude", "--schedule", "sa++/ctr", "--steps", "100", "--json"});
  EXPECT_EQ(mixed[1]["phase"], "SPARSIFICATION");
}

TEST(Commands, MethodsAndHelp) {
  const Json methods = json_of_call({"methods", "--json"});
  EXPECT_EQ(methods["methods"].size(), 16U);
  for (const char* command : {"train", "eval", "export", "predict", "inspect", "plan", "phases", "methods",
                              "bench", "advise", "prepare", "sweep"}) {
    const Outcome help = hewn({command, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Example:"), std::string::npos) << command;
  }
}

TEST(Commands, HelpOfTrainHasHeadings) {
  const std::string help = hewn({"train", "--help"}).out;
  size_t at = 0;
  for (const char* heading :
       {"General", "Data", "Network", "Pruning", "Training", "Optimiser", "Machine", "Records"}) {
    at = help.find("\n\n" + std::string(heading) + ":\n", at);
    ASSERT_NE(at, std::string::npos) << heading << help;
  }
  EXPECT_EQ(help.find("\nOptions:"), std::string::npos) << help;
  EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
}

// Data and model decide on much; what help shows is what a run would take.
TEST(Commands, HelpShowsTheDefaultsOfTheChosenData) {
  const auto expect = [](const std::vector<std::string>& arguments, const std::vector<std::string>& shown) {
    const std::string help = hewn(arguments).out;
    for (const std::string& text : shown) EXPECT_NE(help.find(text), std::string::npos) << text << help;
    EXPECT_EQ(help.find("no-compare "), std::string::npos);
  };
  expect({"train", "--help"}, {"--widths=1024,1024 ", "--epochs=10 ", "--prune-layers=* ", "--lr=auto: 0.1 ",
                               "--method=auto: sa++r ", "--nesterov,--no-nesterov=on ", "--compare-dense "});
  expect({"train", "--data", "synthetic-ctr", "--help"},
         {"--widths=400,400,400 ", "--epochs=4 ", "--prune-layers=fc1 ",
          "--compare-dense,--no-compare-dense=on"});
  expect({"train", "--model", "resnet20", "--help"}, {"--method=auto: sa++r "});
}

TEST(Commands, EveryConfigFileIsUnderstood) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HEWN_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string place = std::filesystem::relative(entry.path(), HEWN_SOURCE_DIR "/configs").string();
    if (place.starts_with("paper/") || place.starts_with("study/")) continue;  // sweeps: sweep/paper_test.cpp
    ++files;
    // An impossible option ends the run after all others were read and before any data are opened.
    const Outcome outcome =
        hewn({"train", "--config", entry.path().string(), "--device", "cpu", "--epochs", "0"});
    EXPECT_NE(outcome.err.find("epochs: expected at least 1"), std::string::npos)
        << entry.path() << ": " << outcome.err;
  }
  EXPECT_GT(files, 5);
}

TEST(Commands, PrepareCountsRowsAndFields) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 400) + "broken\n");
  const std::vector<std::string> words = {"prepare",    "--data", "criteo:" + (folder / "a.tsv").string(),
                                          "--bad-rows", "0.01",   "--threads",
                                          "2",          "--json"};
  const Json first = json_of_call(words);
  EXPECT_EQ(first["rows"], 400);
  EXPECT_EQ(first["malformed"], 1);
  EXPECT_EQ(first["fields"].size(), 39U);
  EXPECT_EQ(first["train"].get<int>() + first["validation"].get<int>() + first["test"].get<int>(), 400);
  EXPECT_NEAR(first["label_mean"].get<double>(), 0.25, 0.08);
  EXPECT_TRUE(first["built"].get<bool>());
  const Json second = json_of_call(words);
  EXPECT_FALSE(second["built"].get<bool>());
  EXPECT_EQ(second["fields"], first["fields"]);
  const Outcome table =
      hewn({"prepare", "--data", "criteo:" + (folder / "a.tsv").string(), "--bad-rows", "0.01"});
  EXPECT_NE(table.out.find("C26"), std::string::npos) << table.out;
}

class SmallRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    write_tiny_mnist(*folder_ / "data", 1000, 200);
    write_text(*folder_ / "a.toml",
               "[train]\nwidths = [96, 96]\nblock = \"8x4\"\nsparsity = 0.75\nbatch = 50\nepochs = 3\nmethod "
               "= \"sa++\"\n"
               "data = \"mnist:" +
                   (*folder_ / "data").string() + "\"\n");
    summary_ = new Json(json_of_call({"train", "--config", (*folder_ / "a.toml").string(), "--json",
                                      "--quiet", "--compare-dense", "--out", (*folder_ / "run").string()}));
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete summary_;
  }
  static std::string run() { return (*folder_ / "run").string(); }

  static TempFolder* folder_;
  static Json* summary_;
};
TempFolder* SmallRun::folder_ = nullptr;
Json* SmallRun::summary_ = nullptr;

TEST_F(SmallRun, SummaryHasWhatScriptsNeed) {
  for (const char* key : {"method", "block", "sparsity", "seed", "metrics", "dense_metrics", "kept_blocks",
                          "bytes_dense", "bytes_sparse", "seconds"}) {
    EXPECT_TRUE(summary_->contains(key)) << key;
  }
  EXPECT_EQ((*summary_)["block"], "8x4");
  EXPECT_EQ(*summary_, Json::parse(read_file(*folder_ / "run" / "summary.json")));
  EXPECT_GT((*summary_)["metrics"]["accuracy"].get<double>(), 80);  // ten classes
  EXPECT_LT((*summary_)["bytes_sparse"].get<double>(), (*summary_)["bytes_dense"].get<double>() * 0.45);
}

TEST_F(SmallRun, EvalEqualsTheSummary) {
  EXPECT_EQ(json_of_call({"eval", run(), "--json"})["metrics"], (*summary_)["metrics"]);
  EXPECT_EQ(json_of_call({"eval", run() + "/dense", "--json"})["metrics"], (*summary_)["dense_metrics"]);
}

TEST_F(SmallRun, InspectCountsTheZerosOfTheFile) {
  const Json report = json_of_call({"inspect", run(), "--json"});
  EXPECT_EQ(report["layers_pruned"], 2);
  EXPECT_EQ(report["requested_sparsity"], 0.75);
  EXPECT_EQ(report["kept_blocks"], (*summary_)["kept_blocks"]);
  const io::SafetensorsFile file = io::read_safetensors(*folder_ / "run" / "model.safetensors");
  int64_t zeros = 0, all = 0;
  for (const char* name : {"fc1.weight", "fc2.weight", "fc3.weight"}) {
    const io::TensorView& view = file.tensors.at(name);
    const auto* values = reinterpret_cast<const float*>(view.data.data());
    for (int64_t i = 0; i < view.elements(); ++i) zeros += values[i] == 0 ? 1 : 0;
    all += view.elements();
  }
  EXPECT_DOUBLE_EQ(report["realised_sparsity"].get<double>(),
                   static_cast<double>(zeros) / static_cast<double>(all));
  const Json planned =
      json_of_call({"plan", "--widths", "96,96", "--block", "8x4", "--sparsity", "0.75", "--json"});
  EXPECT_EQ(planned["kept_blocks"], report["kept_blocks"]);
  EXPECT_NEAR(planned["realised_sparsity"].get<double>(), report["realised_sparsity"].get<double>(), 1e-12);
}

TEST_F(SmallRun, MetricsHoldOneRecordALine) {
  const std::string text = read_file(*folder_ / "run" / "metrics.jsonl");
  int train = 0, test = 0, phases = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const Json record = Json::parse(text.substr(begin, end - begin), nullptr, false);
    ASSERT_TRUE(record.is_object());
    train += record["event"] == "train" ? 1 : 0;
    test += record["event"] == "test" ? 1 : 0;
    phases += record["event"] == "phase" ? 1 : 0;
    EXPECT_TRUE(record["event"] != "train" || record["active"].contains("fc1"));
    begin = end + 1;
  }
  EXPECT_EQ(train, 2);
  EXPECT_EQ(test, 3);
  EXPECT_EQ(phases, 21);
}

TEST_F(SmallRun, AFinishedRunIsNotTrainedAgain) {
  const Json again = json_of_call({"train", "--resume", "--out", run(), "--json", "--quiet"});
  EXPECT_EQ(again, *summary_);
}

}  // namespace
}  // namespace hewn::test
