// Every file of the paper's tables is one that hewn train accepts, and gives the runs it promises.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/support/message.h"

namespace hewn::cli {
namespace {

TEST(PaperFiles, GiveTheirRuns) {
  const std::map<std::string, size_t> expected = {
      {"vision", 46},
      {"vision-cifar10", 52},
      {"vision-small", 62},
      {"ctr", 228},
      {"ctr-synthetic", 138},
      {"ctr-small", 92},
      {"one-shot", 30},
      {"one-shot-cifar10", 36},
      {"one-shot-small", 54},
      {"sparsification", 30},
      {"sparsification-cifar10", 24},
      {"sparsification-small", 36},
      {"exponent", 12},
      {"exponent-cifar10", 36},
      {"exponent-small", 36},
      {"drop", 8},
      {"drop-cifar10", 24},
      {"drop-small", 36},
      {"reset", 12},
      {"reset-cifar10", 36},
      {"reset-small", 36},
      {"clip", 8},
      {"clip-cifar10", 24},
      {"clip-small", 36},
  };
  const sweep::TrainRules rules = train_rules();
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEWN_SOURCE_DIR "/configs/paper")) {
    ++files;
    const std::string name = entry.path().stem().string();
    ASSERT_TRUE(expected.contains(name)) << name;
    const std::string text = read_file(entry.path());
    sweep::Spec spec = sweep::read_spec(text, name, {}, rules);
    const std::vector<sweep::Run> runs = sweep::expand(spec, rules);
    choose_metric(spec, runs);
    EXPECT_EQ(runs.size(), expected.at(name)) << name;
    EXPECT_EQ(spec.options.metric, name.starts_with("ctr") ? "loss" : "accuracy") << name;
    EXPECT_NE(text.find(str(runs.size(), " runs")), std::string::npos) << name << ": says another number";
    EXPECT_NE(text.find("hewn sweep configs/paper/" + name + ".toml"), std::string::npos) << name;
  }
  EXPECT_EQ(files, expected.size());
}

TEST(TrainRules, NameTheLineOfWhatHewnTrainRefuses) {
  const sweep::TrainRules rules = train_rules();
  const auto problem = [&](const std::string& text) {
    return test::message_of([&] {
      sweep::Spec spec = sweep::read_spec("[train]\nwidths = [64, 64]\n" + text, "b.toml", {}, rules);
      choose_metric(spec, sweep::expand(spec, rules));
    });
  };
  EXPECT_EQ(problem("[axes]\nmethod = [\"acdc\", \"dense\"]\nblock = [4, \"8x4\"]\n"), "");
  const auto expect = [&](const std::string& text, const std::string& what) {
    const std::string said = problem(text);
    EXPECT_TRUE(said.starts_with(what)) << said;
  };
  expect("[axes]\nmethod = [\"acdc\", \"sa+\"]\n", "b.toml: line 4: method: unknown name \"sa+\"");
  expect("sparsity = 1.5\n", "b.toml: line 3: sparsity: expected a number in [0, 1)");
  expect("[axes]\nseed = [0]\nblock = [4, 64]\n", "b.toml: line 5: block: no layer has 100 blocks");
  expect("[axes]\nlr = [0.1, \"fast\"]\n", "b.toml: line 4: lr: expected a number");
  expect("[axes]\nscore = [\"attention\", \"x\"]\n", "b.toml: line 4: score: unknown name \"x\"");
  expect("schedule = \"x\"\n", "b.toml: line 3: schedule: unknown name \"x\"");
  expect("eval-on = \"x\"\n", "b.toml: line 3: eval-on: expected test or validation");
  expect("epochs = 0\n", "b.toml: line 3: epochs: expected at least 1");
  expect("[sweep]\nmetric = \"auc\"\n", "b.toml: metric: run run trains on images, which have no auc");
}

}  // namespace
}  // namespace hewn::cli
