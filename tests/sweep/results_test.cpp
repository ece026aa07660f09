// Tables against values worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/sweep/estimate.h"
#include "hewn/sweep/queue.h"
#include "hewn/sweep/tables.h"
#include "tests/hostile/mutate.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::sweep {
namespace {

class SweepResults : public testing::Test {
 protected:
  SweepResults() {
    const TrainRules rules{{"method", "block", "seed"},
                           [](const Options&) {},
                           [](const std::string& key) { return key == "block"; },
                           [](const std::string&) { return false; }};
    spec_ =
        read_spec(sweep_file("[axes]\nmethod = [\"dense\", \"old\", \"new\"]\nblock = [4, 8]\nseed = [0, 1]\n"
                             "[sweep]\nbaseline = \"old\"\n",
                             "table.toml"),
                  {}, rules);
    spec_.options.metric = "loss";
    runs_ = expand(spec_, rules);
  }

  void finish(const std::string& name, double loss, double seconds = 10) const {
    std::filesystem::create_directories(folder_.run(name));
    test::write_text(folder_.run(name) / "summary.json",
                     Json{{"metrics", {{"loss", loss}}}, {"seconds", seconds}, {"blocks", 7}}.dump());
  }
  void finish_all() const {
    finish("dense-seed0", 0.25);
    finish("dense-seed1", 0.35);
    finish("old-block4-seed0", 0.5);
    finish("old-block4-seed1", 0.7);
    finish("old-block8-seed0", 0.8);
    finish("old-block8-seed1", 0.8);
    finish("new-block4-seed0", 0.5);
    finish("new-block4-seed1", 0.8);
    finish("new-block8-seed0", 0.6);
    finish("new-block8-seed1", 0.5);
  }
  Results results() const { return collect(spec_, runs_, folder_); }

  test::TempFolder temporary_;
  Folder folder_{temporary_.path()};
  Spec spec_;
  std::vector<sweep::Run> runs_;
};

TEST_F(SweepResults, CellsAndComparisons) {
  finish_all();
  const Json json = json_results(spec_, runs_, results());
  EXPECT_EQ(json["counts"]["finished"], 10);
  ASSERT_EQ(json["cells"].size(), 6U);
  const Json& cell = json["cells"][2];
  EXPECT_EQ(cell["at"], (Json{{"method", "old"}, {"block", "4"}}));
  EXPECT_NEAR(cell["mean"].get<double>(), 0.6, 1e-12);
  EXPECT_NEAR(cell["sd"].get<double>(), 0.1 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(json["cells"][0]["shared"], true);
  EXPECT_EQ(json["cells"][0]["mean"], json["cells"][1]["mean"]);
  ASSERT_EQ(json["winners"].size(), 2U);
  EXPECT_EQ(json["winners"][0]["at"], (Json{{"block", "4"}}));
  EXPECT_EQ(json["winners"][0]["best"], "old");  // the dense model competes with none
  EXPECT_EQ(json["winners"][0]["verdict"], "within noise");
  EXPECT_EQ(json["winners"][1]["best"], "new");
  EXPECT_EQ(json["winners"][1]["second"], "old");
  EXPECT_EQ(json["winners"][1]["verdict"], "clear");
  // dense-old, dense-new, old-new; overall, then for each block.
  ASSERT_EQ(json["comparisons"].size(), 9U);
  const Json& all = json["comparisons"][2];
  EXPECT_EQ(all["a"], "new");
  EXPECT_EQ(all["b"], "old");
  EXPECT_EQ(all["wins"], 2);
  EXPECT_EQ(all["losses"], 1);
  EXPECT_EQ(all["ties"], 1);
  EXPECT_NEAR(all["mean_difference"].get<double>(), (0 + 0.1 - 0.2 - 0.3) / 4, 1e-12);
  EXPECT_NEAR(all["p"].get<double>(), 1, 1e-12);
  const Json& large = json["comparisons"][8];
  EXPECT_EQ(large["where"], (Json{{"block", "8"}}));
  EXPECT_EQ(large["wins"], 2);
  EXPECT_NEAR(large["mean_difference"].get<double>(), -0.25, 1e-12);
}

TEST_F(SweepResults, AnEmptyOptionDoesNotTakeTheNextOne) {
  runs_[0].options["cache"] = "";
  const auto words = train_arguments(folder_, runs_[0], "cpu", 1);
  const auto cache = std::find(words.begin(), words.end(), "--cache");
  ASSERT_NE(cache, words.end());
  EXPECT_EQ(*(cache + 1), "");
}

TEST_F(SweepResults, ARunWithoutAFiniteMetricHasNoValueAndIsNamed) {
  finish_all();
  test::write_text(folder_.run("new-block8-seed1") / "summary.json",
                   R"({"metrics": {"loss": null}, "seconds": 1})");
  const std::string table = markdown_table(spec_, runs_, results());
  EXPECT_NE(table.find("0.6000 (n=1)"), std::string::npos) << table;
  EXPECT_NE(table.find("- new-block8-seed1: its loss is not a finite number\n"), std::string::npos) << table;
}

TEST_F(SweepResults, MarkdownPutsTheBestInBoldAndTheDenseModelAbove) {
  finish_all();
  const std::string table = markdown_table(spec_, runs_, results());
  EXPECT_NE(table.find("dense: 0.3000 ± 0.0707\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| block | old | new |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| 4 | **0.6000 ± 0.1414** | 0.6500 ± 0.2121 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| 8 | 0.8000 ± 0.0000 | **0.5500 ± 0.0707** |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| new | old | 2 | 1 | 1 | -0.1000 | 1 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| dense | old | 4 | 0 | 0 | -0.4000 | 0.12 |\n"), std::string::npos) << table;
}

TEST_F(SweepResults, TheDenseModelCompetesWithNoneEvenInATableOfOneCell) {
  const TrainRules rules{{"method"},
                         [](const Options&) {},
                         [](const std::string&) { return false; },
                         [](const std::string&) { return false; }};
  Spec spec = read_spec(sweep_file("[axes]\nmethod = [\"dense\", \"old\", \"new\"]\n", "t.toml"), {}, rules);
  spec.options.metric = "loss";
  const std::vector<sweep::Run> runs = expand(spec, rules);
  finish("dense", 0.1);
  finish("old", 0.3);
  finish("new", 0.2);
  const Results found = collect(spec, runs, folder_);
  EXPECT_EQ(leader(spec, found), "new in 1 of 1 cell");
  const std::string table = markdown_table(spec, runs, found);
  EXPECT_NE(table.find("dense: 0.1000\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| | old | new |\n|---|---|---|\n| | 0.3000 | **0.2000** |\n"), std::string::npos)
      << table;
}

TEST_F(SweepResults, ADenseModelThatDiffersFromRowToRowStaysAColumn) {
  const TrainRules rules{{"method", "block", "epochs"},
                         [](const Options&) {},
                         [](const std::string& key) { return key == "block"; },
                         [](const std::string&) { return false; }};
  Spec spec = read_spec(
      sweep_file("[axes]\nmethod = [\"dense\", \"old\"]\nblock = [4, 8]\nepochs = [1, 2]\n", "t.toml"), {},
      rules);
  spec.options.metric = "loss";
  const auto runs = expand(spec, rules);
  finish("dense-epochs1", 0.5);
  finish("dense-epochs2", 0.4);
  finish("old-block8-epochs2", 0.6);
  const std::string table = markdown_table(spec, runs, collect(spec, runs, folder_));
  EXPECT_NE(table.find("| block | epochs | dense | old |\n|---|---|---|---|\n| 4 | 1 | 0.5000 | - |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| 8 | 2 | 0.4000 | **0.6000** |\n"), std::string::npos) << table;
}

TEST_F(SweepResults, CsvHasALinePerRunAlsoForTheFailed) {
  finish("dense-seed0", 0.25);
  std::filesystem::create_directories(folder_.run("old-block4-seed0"));
  folder_.keep_apart("old-block4-seed0", "loss is nan, \"diverged\"");
  const std::string csv = csv_table(spec_, runs_, results());
  EXPECT_TRUE(csv.starts_with("run,state,method,block,seed,loss,")) << csv;
  EXPECT_NE(csv.find("\ndense-seed0,finished,dense,,0,0.25,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nold-block4-seed0,failed,old,4,0,,,,,,,,,,,\"loss is nan, \"\"diverged\"\"\"\n"),
            std::string::npos)
      << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 11);
}

TEST_F(SweepResults, WhatIsMissingIsSaidAndNotGuessed) {
  finish("new-block4-seed1", 0.5);
  const std::string table = markdown_table(spec_, runs_, results());
  EXPECT_NE(table.find("1 of 10 runs are finished"), std::string::npos) << table;
  EXPECT_NE(table.find("| 4 | - | **0.5000 (n=1)** |\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("sign test"), std::string::npos) << table;
  test::write_text(folder_.run("new-block4-seed1") / "summary.json", "{\"metrics\": {\"accuracy\": 3}}");
  EXPECT_NE(test::message_of([&] { results(); }).find("has no number \"loss\""), std::string::npos);
}

TEST_F(SweepResults, TimeLeftComesFromTheRunsMostAlike) {
  EXPECT_FALSE(seconds_left(spec_, runs_, results(), {}, 2));
  for (const char* name : {"dense-seed0", "dense-seed1"}) finish(name, 0.3, 10);
  for (const char* name : {"old-block4-seed0", "old-block8-seed0"}) finish(name, 0.3, 30);
  for (const char* name : {"new-block4-seed0", "new-block8-seed0"}) finish(name, 0.3, 50);
  // Left are both methods at both blocks with seed 1: 30 + 30 + 50 + 50, of which 20 have passed.
  size_t running = 0;
  while (runs_[running].name != "old-block4-seed1") ++running;
  EXPECT_NEAR(*seconds_left(spec_, runs_, results(), {{running, 20.0}}, 2), 140.0 / 2, 1e-9);
}

TEST_F(SweepResults, TheLeaderIsBestInMostCells) {
  EXPECT_EQ(leader(spec_, results()), "");
  finish_all();
  EXPECT_EQ(leader(spec_, results()), "old in 1 of 2 cells");
  finish("old-block4-seed0", 0.9);
  EXPECT_EQ(leader(spec_, results()), "new in 2 of 2 cells");
  finish("old-block4-seed0", 0.6);  // level with new, so nobody wins there
  EXPECT_EQ(leader(spec_, results()), "new in 1 of 2 cells");
  const std::string table = markdown_table(spec_, runs_, results());
  EXPECT_NE(table.find("| 4 | **0.6500 ± 0.0707** | **0.6500 ± 0.2121** |\n"), std::string::npos) << table;
}

TEST_F(SweepResults, AChangedFileIsRefusedAndNewRunsAreNot) {
  const TrainRules rules{{}, nullptr, nullptr, [](const std::string& key) { return key == "cache"; }};
  Spec spec = spec_;
  spec.fixed = {{"epochs", "3"}, {"cache", "a"}};
  spec.lines = {{"epochs", {"table.toml", 12}}};
  const Json before = record_of(spec, {}, {runs_[0], runs_[1]});
  spec.fixed["cache"] = "b";
  const Json more = continued(before, record_of(spec, {}, {runs_[1], runs_[2]}), spec, "out", rules);
  EXPECT_EQ(more["runs"].size(), 3U);
  spec.fixed["epochs"] = "4";
  EXPECT_EQ(test::message_of([&] { continued(before, record_of(spec, {}, runs_), spec, "out", rules); }),
            "table.toml: line 12: epochs: this sweep was begun with 3 fixed in [train], now it is 4; put it "
            "back, or "
            "begin another sweep in another folder");
  spec.fixed["epochs"] = "3";
  std::vector<sweep::Run> changed = runs_;
  changed[1].options["method"] = "other";
  const std::filesystem::path here = temporary_.path();
  continued(before, record_of(spec, {}, changed), spec, here, rules);  // it has not begun
  finish(runs_[1].name, 0.5);
  EXPECT_NE(test::message_of([&] {
              continued(before, record_of(spec, {}, changed), spec, here, rules);
            }).find("was begun with method = old, now it is other"),
            std::string::npos);
}

TEST_F(SweepResults, ADamagedRecordIsRefusedOrTaken) {
  const TrainRules rules{{}, nullptr, nullptr, [](const std::string&) { return false; }};
  Spec spec = spec_;
  spec.fixed = {{"epochs", "3"}};
  const Json record = record_of(spec, {}, runs_);
  const std::filesystem::path here = temporary_.path();
  finish_all();
  int refused = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Json damaged = test::Mutator(seed).json(record);
    try {
      continued(damaged, record, spec, here, rules);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
  Json numbers = record;
  numbers["runs"][runs_[0].name]["method"] = 3;
  EXPECT_EQ(test::message_of([&] { continued(numbers, record, spec, here, rules); }),
            (here / "sweep.json").string() + ": run " + runs_[0].name + ": expected an object of texts");
  std::filesystem::create_directories(folder_.failed("x"));
  test::write_text(folder_.failed("x") / "failure.json", "{\"error\": [1]}");
  EXPECT_EQ(test::message_of([&] { folder_.failure("x"); }),
            (folder_.failed("x") / "failure.json").string() + ": \"error\" is not a text");
}

}  // namespace
}  // namespace hewn::sweep
