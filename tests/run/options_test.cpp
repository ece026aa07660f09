#include "hewn/run/options.h"

#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/nn/signature.h"
#include "hewn/run/recipe.h"

namespace hewn::run {
namespace {

TEST(RunOptions, KeysOfEarlierVersionsAreRead) {
  const Options options = options_from({{"optimizer", "adam"},
                                        {"no-nesterov", "true"},
                                        {"no-augment", "true"},
                                        {"no-cuda-graphs", "true"},
                                        {"no-sparsification", "true"}});
  EXPECT_EQ(options.optimiser, "adam");
  EXPECT_FALSE(options.nesterov);
  EXPECT_FALSE(options.augment);
  EXPECT_FALSE(options.cuda_graphs);
  EXPECT_FALSE(options.prune.sparsification);
  EXPECT_TRUE(options_from({{"no-nesterov", "false"}}).nesterov);
}

// Both stood in every config.json of 0.1: one asked for the dense model, the other forbade it.
TEST(RunOptions, NoCompareForbidsAndAsksForNothing) {
  EXPECT_FALSE(options_from({{"no-compare", "false"}}).compare_dense);
  EXPECT_FALSE(options_from({{"compare-dense", "true"}, {"no-compare", "true"}}).compare_dense);
  EXPECT_TRUE(options_from({{"compare-dense", "true"}, {"no-compare", "false"}}).compare_dense);
}

TEST(RunOptions, CurrentKeysSayTheSame) {
  const std::map<std::string, std::string> old = {
      {"optimizer", "adamw"}, {"no-sparsification", "true"}, {"block", "8"}};
  const std::map<std::string, std::string> now = {
      {"optimiser", "adamw"}, {"sparsification", "false"}, {"block", "8"}};
  EXPECT_EQ(current_keys(old), now);
  EXPECT_EQ(current_keys(now), now);
}

// hewn train --help shows them under these headings.
TEST(RunOptions, EveryRowHasAGroup) {
  Options options;
  const std::set<std::string> groups = {"Data",      "Network", "Pruning", "Training",
                                        "Optimiser", "Machine", "Records"};
  std::set<std::string> used;
  const OptionTable table = describe(options);
  for (const Option& option : table.options()) {
    EXPECT_TRUE(groups.contains(option.group)) << option.key << ": \"" << option.group << '"';
    used.insert(option.group);
  }
  EXPECT_EQ(used, groups);
}

TEST(RunOptions, RowsSayWhatMayChange) {
  EXPECT_TRUE(only_prunes("block"));
  EXPECT_TRUE(only_prunes("no-sparsification"));
  EXPECT_FALSE(only_prunes("method"));
  EXPECT_TRUE(may_change_on_resume("cache"));
  EXPECT_TRUE(may_change_on_resume("no-cuda-graphs"));
  EXPECT_FALSE(may_change_on_resume("seed"));
  EXPECT_FALSE(may_change_on_resume("no such key"));
}

TEST(RunOptions, ErrorsNameTheKey) {
  const auto problem = [](const std::string& key, const std::string& text) -> std::string {
    try {
      check_options(options_from({{key, text}}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem("epochs", "0"), "epochs: expected at least 1, got 0");
  EXPECT_EQ(problem("warmup", "1"), "warmup: expected a number in [0, 1), got 1");
  EXPECT_EQ(problem("optimiser", "lion"), "optimiser: expected sgd, adam or adamw, got \"lion\"");
  EXPECT_EQ(problem("lr", "-1"), "lr: expected a number above 0, got -1");
  EXPECT_EQ(problem("lr-schedule", "exponential"),
            "lr-end: expected a number above 0 with lr-schedule exponential, got 0");
  EXPECT_EQ(problem("lr", "0.5"), "");
}

}  // namespace
}  // namespace hewn::run
