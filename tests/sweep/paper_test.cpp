// Every sweep file that comes with hewn is one that hewn train accepts, and gives the runs it promises.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "cli/torch/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/support/message.h"

namespace hewn::cli {
namespace {

const std::filesystem::path kConfigs = HEWN_SOURCE_DIR "/configs";

/// How many runs a sweep file gives at a size, all of them checked.
size_t count_runs(const std::filesystem::path& path, const std::string& size) {
  const sweep::TrainRules rules = train_rules();
  const std::string text = read_file(path);
  const std::string name = path.stem().string();
  sweep::Spec spec = sweep::read_spec(sweep::sweep_file(text, path.string(), size), {}, rules);
  const std::vector<sweep::Run> runs = sweep::expand(spec, rules);
  choose_metric(spec, runs);
  EXPECT_EQ(spec.options.metric, name.starts_with("ctr") ? "loss"
                                 : name == "text"        ? "bpc"
                                                         : "accuracy")
      << name;
  EXPECT_NE(text.find(str(runs.size(), " runs")), std::string::npos) << name << ": says another number";
  const std::string command = str("hewn sweep ", std::filesystem::relative(path, HEWN_SOURCE_DIR).string(),
                                  size.empty() ? "" : " --size " + size);
  EXPECT_NE(text.find(command), std::string::npos) << name << ": does not say " << command;
  return runs.size();
}

TEST(PaperFiles, GiveTheirRunsAtEverySize) {
  const std::map<std::string, std::map<std::string, size_t>> expected = {
      {"vision", {{"", 46}, {"cifar10", 52}, {"small", 62}}},
      {"ctr", {{"", 303}, {"synthetic", 138}, {"small", 92}}},
      {"acdc-check", {{"", 2}, {"cifar10", 4}}},
      {"one-shot", {{"", 30}, {"cifar10", 36}, {"small", 54}}},
      {"sparsification", {{"", 30}, {"cifar10", 24}, {"small", 36}}},
      {"exponent", {{"", 12}, {"cifar10", 36}, {"small", 36}}},
      {"drop", {{"", 8}, {"cifar10", 24}, {"small", 36}}},
      {"reset", {{"", 12}, {"cifar10", 36}, {"small", 36}}},
      {"clip", {{"", 8}, {"cifar10", 24}, {"small", 36}}},
  };
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs / "paper")) {
    if (entry.is_directory()) continue;
    ++files;
    const std::string name = entry.path().stem().string();
    ASSERT_TRUE(expected.contains(name)) << name;
    for (const auto& [size, runs] : expected.at(name))
      EXPECT_EQ(count_runs(entry.path(), size), runs) << name;
  }
  EXPECT_EQ(files, expected.size());
}

TEST(StudyFiles, GiveTheirRuns) {
  using Sizes = std::map<std::string, size_t>;
  const std::map<std::string, Sizes> expected = {
      {"fashion-knobs", {{"", 180}}},
      {"fashion-clip", {{"", 153}}},
      {"cifar10-knobs", {{"", 34}}},
      {"ctr-knobs", {{"", 126}}},
      {"everything", {{"", 12}, {"long", 6}}},
      {"methods/fashion", {{"", 41}, {"final", 63}}},
      {"methods/cifar10", {{"", 31}, {"final", 48}}},
      {"methods/resnet20", {{"", 61}, {"final", 93}}},
      {"methods/resnet56", {{"", 61}, {"final", 93}}},
      {"methods/ctr", {{"", 182}, {"final", 276}}},
      {"methods/tiny-imagenet", {{"", 11}, {"final", 18}}},
      {"methods/text", {{"", 21}, {"final", 33}}},
      {"methods/vit", {{"", 21}, {"final", 33}}},
  };
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kConfigs / "study")) {
    if (entry.is_directory()) continue;
    ++files;
    const std::string name =
        std::filesystem::relative(entry.path(), kConfigs / "study").replace_extension().string();
    ASSERT_TRUE(expected.contains(name)) << name;
    for (const auto& [size, runs] : expected.at(name))
      EXPECT_EQ(count_runs(entry.path(), size), runs) << name;
  }
  EXPECT_EQ(files, expected.size());
}

TEST(PaperFiles, AreKeptBesideTheRunsWithoutNeedingTheirBase) {
  const sweep::TrainRules rules = train_rules();
  const sweep::SweepFile file = sweep::sweep_file(read_file(kConfigs / "paper/one-shot.toml"),
                                                  (kConfigs / "paper/one-shot.toml").string(), "small");
  EXPECT_EQ(file.name, "one-shot-small");
  const auto runs = sweep::expand(sweep::read_spec(file, {}, rules), rules);
  const auto again =
      sweep::expand(sweep::read_spec(sweep::sweep_file(file.text, "sweep.toml"), {}, rules), rules);
  ASSERT_EQ(runs.size(), again.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].name, again[i].name);
    EXPECT_EQ(runs[i].options, again[i].options);
  }
}

/// What hewn train says of the runs of a sweep file's text; "" where it accepts all.
std::string problem_of(const std::string& text, const std::filesystem::path& path, const std::string& size) {
  const sweep::TrainRules rules = train_rules();
  return test::message_of([&] {
    sweep::expand(sweep::read_spec(sweep::sweep_file(text, path.string(), size), {}, rules), rules);
  });
}

TEST(Documents, NameSweepsAndSizesThatAreThere) {
  std::vector<std::filesystem::path> documents = {HEWN_SOURCE_DIR "/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(HEWN_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  const std::regex command("hewn sweep (configs/[^ ]+)( --size ([a-z0-9]+))?");
  std::set<std::pair<std::string, std::string>> named;
  for (const std::filesystem::path& document : documents) {
    const std::string text = read_file(document);
    for (std::sregex_iterator found(text.begin(), text.end(), command), end; found != end; ++found) {
      named.emplace((*found)[1], (*found)[3]);
    }
  }
  EXPECT_GT(named.size(), 10U);
  for (const auto& [file, size] : named) {
    const std::filesystem::path path = std::filesystem::path(HEWN_SOURCE_DIR) / file;
    EXPECT_EQ(problem_of(read_file(path), path, size), "") << file << " " << size;
  }
}

TEST(Documents, ShowSweepFilesThatAreUnderstood) {
  const std::string text = read_file(HEWN_SOURCE_DIR "/docs/sweeps.md");
  const std::string fence = "```toml\n";
  int snippets = 0;
  for (size_t begin = text.find(fence); begin != std::string::npos; begin = text.find(fence, begin + 1)) {
    const size_t first = begin + fence.size();
    const std::string snippet = text.substr(first, text.find("```", first) - first);
    const std::vector<std::string> sizes = snippet.find("[size.") == std::string::npos
                                               ? std::vector<std::string>{""}
                                               : std::vector<std::string>{"", "small"};
    for (const std::string& size : sizes) {
      EXPECT_EQ(problem_of(snippet, kConfigs / "paper/snippet.toml", size), "") << snippet;
    }
    ++snippets;
  }
  EXPECT_EQ(snippets, 2);
}

TEST(TrainRules, NameTheLineOfWhatHewnTrainRefuses) {
  const sweep::TrainRules rules = train_rules();
  const auto problem = [&](const std::string& text) {
    return test::message_of([&] {
      sweep::Spec spec =
          sweep::read_spec(sweep::sweep_file("[train]\nwidths = [64, 64]\n" + text, "b.toml"), {}, rules);
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
  expect("[sweep]\nmetric = \"auc\"\n", "b.toml: metric: run run has no auc, only accuracy, loss");
  const std::string table = "data = \"csv:a.csv\"\nblock = 4\n";
  EXPECT_EQ(problem(table + "task = \"regression\"\n[sweep]\nmetric = \"r2\"\n"), "");
  expect(table + "task = \"regression\"\n[sweep]\nmetric = \"accuracy\"\n",
         "b.toml: metric: run run has no accuracy, only rmse, r2, loss");
  expect(table, "task: expected classification or regression");
}

}  // namespace
}  // namespace hewn::cli
