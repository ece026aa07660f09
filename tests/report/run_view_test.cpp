// A run folder in the states in which one may find it.
#include "hewn/report/run_view.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/nn/slots.h"
#include "hewn/report/outcomes.h"
#include "hewn/run/config.h"
#include "hewn/run/folder.h"
#include "hewn/run/options.h"
#include "hewn/run/recipe.h"
#include "hewn/train/network.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::report {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

/// An mlp 784-32-10 in 8x8 blocks that has written its config and the beginning of a log.
class RunViewTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(run_.path);
    options_.widths = {32};
    options_.prune.method = "sa++";
    options_.prune.block = {8, 8};
    const nn::Signature signature{{1, 28, 28}, 10};
    run::write_config(run_, {options_, 100, signature, "1"});
    write_text(run_.metrics(), R"({"step":1,"event":"phase","phase":"DENSE"})"
                               "\n"
                               R"({"step":40,"event":"train","epoch":0,"phase":"DENSE","loss":1.5,)"
                               R"("accuracy":50,"lr":0.1,"active":{"fc1":1.0}})"
                               "\n");
    model_ = train::build_model(options_, signature);
    const auto slots = nn::find_slots(*model_);
    const auto plan = prune::make_plan(nn::weight_shapes(slots), plan_options(options_.prune));
    pruner_ = std::make_unique<prune::Pruner>(slots, plan, run::resolve_recipe(options_), 100);
  }

  /// Goes through the whole schedule with the weights as they are.
  void record_all() const {
    train::SupportLog log(run_, *pruner_, "attention", 0);
    for (int64_t step = 0; step < 100; ++step) {
      const prune::PhaseChange change = pruner_->advance(step);
      if (change.entered) log.on_phase(step + 1, change.moment.phase);
    }
    log.end(100);
  }

  TempFolder folder_;
  run::Folder run_{folder_ / "run"};
  run::Options options_;
  std::shared_ptr<nn::Model> model_;
  std::unique_ptr<prune::Pruner> pruner_;
};

TEST_F(RunViewTest, SaysWhetherARunGoesOn) {
  EXPECT_EQ(RunView(run_).status(), Status::kStopped);
  const FileLock lock(run_.lock());
  RunView view(run_);
  EXPECT_EQ(view.status(), Status::kRunning);
  EXPECT_FALSE(view.refresh());
  const Json json = view.to_json({});
  EXPECT_EQ(json["status"], "running");
  EXPECT_EQ(json["step"], 40);
  EXPECT_EQ(json["phases"], (Json{{"DENSE", 1, 41}}));
  EXPECT_EQ(json["headline"]["blocks"], 98 * 4);
  EXPECT_EQ(json["layers"][0]["flops_dense"], 2 * 784 * 32);
  EXPECT_TRUE(json["masks"].empty());
  EXPECT_TRUE(json["problems"].empty());
}

TEST_F(RunViewTest, ShowsTheNewestChoiceAndHowItChanged) {
  record_all();
  const RunView view(run_);
  const Json json = view.to_json({});
  ASSERT_EQ(json["masks"].size(), 1U);
  EXPECT_EQ(json["masks"][0]["rows"], 98);
  EXPECT_EQ(json["churn"].size() + 2,
            train::support_files(run_).size());  // the first and the end are no change
  EXPECT_EQ(json["churn"][0]["all"], 0);
  const train::SupportRecord end = train::read_supports(train::support_files(run_).back());
  EXPECT_TRUE(end.end);
  EXPECT_EQ(end.step, 100);
  EXPECT_EQ(end.score, "attention");
  EXPECT_EQ(end.layers.at("fc1").blocks.kept(), 39);
  EXPECT_EQ(end.layers.at("fc1").importance.size(), 392U);
}

TEST_F(RunViewTest, AResumedRunForgetsLaterChoices) {
  record_all();
  const size_t all = train::support_files(run_).size();
  const train::SupportLog again(run_, *pruner_, "attention", 50);
  const auto left = train::support_files(run_);
  EXPECT_LT(left.size(), all);
  ASSERT_FALSE(left.empty());
  EXPECT_LE(train::read_supports(left.back()).step, 50);
}

TEST_F(RunViewTest, NamesDamagedFiles) {
  record_all();
  const std::string record = train::support_files(run_)[0].string();
  std::string bytes = read_file(record);
  bytes[bytes.size() / 2] ^= 1;
  write_text(record, bytes);
  write_text(run_.metrics(), read_file(run_.metrics()) + "{oops\n{\"step\":50");
  const std::vector<std::string> problems = RunView(run_).problems();
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_TRUE(problems[0].starts_with(record)) << problems[0];
  EXPECT_NE(problems[1].find("metrics.jsonl: line 3 is damaged"), std::string::npos) << problems[1];
  EXPECT_NE(problems[2].find("ends inside a line"), std::string::npos) << problems[2];
  write_text(run_.summary(), "{");
  EXPECT_EQ(message_of([&] { RunView view(run_); }), run_.summary().string() + ": is not valid JSON");
  write_text(run_.summary(), R"({"metrics": 3})");
  const Json json = RunView(run_).to_json({});
  EXPECT_TRUE(json["headline"]["metrics"].empty());
  EXPECT_NE(json["problems"][1].get<std::string>().find("model.safetensors"), std::string::npos)
      << json["problems"];
  write_text(run_.config(), "{}");
  EXPECT_NE(message_of([&] { RunView view(run_); }).find("config.json"), std::string::npos);
}

TEST_F(RunViewTest, CountsBlocksInTheNewestChoiceRatherThanInThePlan) {
  record_all();
  options_.prune.sparsity = 0.5;  // as where layers share a budget: the plan is not what was chosen
  Json config = read_json(run_.config());
  config["options"] = run::describe(options_).to_json();
  write_json(run_.config(), config);
  EXPECT_EQ(RunView(run_).to_json({})["layers"][0]["kept"], 39);
}

TEST_F(RunViewTest, ARecordOfOtherLayersIsNamedAndLeftOut) {
  record_all();
  options_.prune.block = {16, 16};
  Json config = read_json(run_.config());
  config["options"] = run::describe(options_).to_json();
  write_json(run_.config(), config);
  const RunView view(run_);
  ASSERT_EQ(view.problems().size(), 1U);
  EXPECT_NE(view.problems()[0].find("supports: the newest record is of other layers"), std::string::npos);
  EXPECT_TRUE(view.to_json({})["masks"].empty());
}

TEST_F(RunViewTest, ARemovedRunStaysMissed) {
  RunView view(run_);
  test::remove_tree(run_.path);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(message_of([&] { view.refresh(); }).find("is not a run folder any more"), std::string::npos);
  }
}

TEST_F(RunViewTest, ValuesOfAnotherTypeAreNamed) {
  write_text(run_.summary(), R"({"metrics": {"accuracy": 90}, "sparsity": "high"})");
  const std::string message = message_of([&] { outcomes({RunView(run_)}); });
  EXPECT_NE(message.find("summary.json is damaged"), std::string::npos) << message;
}

}  // namespace
}  // namespace hewn::report
