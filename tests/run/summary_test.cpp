#include "hewn/run/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/json_file.h"
#include "hewn/run/config.h"
#include "hewn/run/loop_state.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::run {
namespace {

Summary sample() {
  Summary out;
  out.method = "sa++r";
  out.metrics = {{"accuracy", 89.5}, {"loss", std::nan("")}};
  out.blocks = 10;
  out.kept_blocks = 7;
  out.products_dense = 1000;
  out.products_sparse = 100;
  out.expected_ms_dense = 2.5;
  out.expected_ms_sparse = 0.25;
  out.dense_metrics = Metrics{{"accuracy", 90.0}, {"loss", 0.5}};
  out.dense_seconds = 2.5;
  return out;
}

TEST(Summary, IsReadAsItWasWritten) {
  const test::TempFolder folder;
  write_summary(folder / "summary.json", sample());
  const Summary read = read_summary(folder / "summary.json");
  EXPECT_EQ(read.method, "sa++r");
  EXPECT_EQ(read.kept_blocks, 7);
  EXPECT_EQ(read.metrics.at("accuracy"), 89.5);
  EXPECT_TRUE(std::isnan(read.metrics.at("loss")));
  EXPECT_EQ(read.dense_metrics->at("accuracy"), 90.0);
  EXPECT_EQ(read.products_sparse, 100);
  EXPECT_EQ(read.expected_ms_sparse, 0.25);
  EXPECT_FALSE(read.sparse_execution.has_value());
}

TEST(Summary, DamageIsNamedByFileAndKey) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder / "summary.json";
  const auto problem = [&](const Json& json) -> std::string {
    write_json(path, json);
    try {
      read_summary(path);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  for (const Json& json : {Json::array(), Json(3), Json(nullptr)}) {
    EXPECT_EQ(problem(json), path.string() + ": is not a run's summary");
  }
  const Json whole = to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    Json wrong = whole;
    wrong[key] = value.is_array() ? Json(1) : Json::array({"?"});
    EXPECT_EQ(problem(wrong), path.string() + ": is not a run's summary: \"" + key + "\" is of another kind");
    Json missing = whole;
    missing.erase(key);
    const bool optional = key.starts_with("dense_") || key.starts_with("products_") ||
                          key.starts_with("expected_") || key == "best_test_loss";
    EXPECT_EQ(problem(missing),
              optional ? "" : path.string() + ": is not a run's summary: \"" + key + "\" is missing");
  }
}

TEST(Summary, NumbersMustBePossible) {
  const Json whole = to_json(sample());
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"kept_blocks", 11}, {"blocks", -1},
      {"steps", 1.5},      {"seed", 18446744073709551615U},
      {"sparsity", "0.9"}, {"metrics", {{"a", "b"}}},
      {"bytes_dense", -5}, {"dense_metrics", Json::object()}};
  for (const auto& [key, value] : wrong) {
    Json json = whole;
    json[key] = value;
    const std::string said = test::message_of([&] { summary_in(json, "file"); });
    EXPECT_NE(said.find("file: is not a run's summary: \"" + key + "\""), std::string::npos) << key << said;
  }
}

TEST(LoopState, IsReadAsItWasWrittenAndCheckedFieldByField) {
  LoopState state{20, 3, 0.7, 1.5, 2, 20, true, 0xffffffffU};
  const StateLimits limits{20, 40, 7};
  const LoopState read = read_loop_state(to_json(state), limits, "file");
  EXPECT_EQ(to_json(read), to_json(state));
  const Json whole = to_json(state);
  const auto said = [&](const Json& json) {
    return test::message_of([&] { read_loop_state(json, limits, "file"); });
  };
  for (const auto& [key, value] : whole.items()) {
    Json json = whole;
    json[key] = Json::array();
    EXPECT_NE(said(json).find("\"" + key + "\" is of another kind"), std::string::npos) << said(json);
    json.erase(key);
    const bool optional = key == "unevaluated" || key == "teacher";
    EXPECT_EQ(said(json).find("\"" + key + "\" is missing") != std::string::npos, !optional) << key;
  }
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"step", 41},        {"step", 19},    {"step", -1},        {"pending", 8},          {"pending", -1},
      {"phase_index", -2}, {"seconds", -1}, {"first_loss", "1"}, {"optimiser_steps", 41}, {"teacher", -1}};
  for (const auto& [key, value] : wrong) {
    Json json = whole;
    json[key] = value;
    EXPECT_NE(said(json).find("\"" + key + "\""), std::string::npos) << key << value;
  }
  EXPECT_EQ(said(Json::array()), "file: is not the state of a run");
}

TEST(Config, WhatNoTrainingCanHaveIsRefused) {
  const test::TempFolder folder;
  const Folder run{folder / "run"};
  std::filesystem::create_directories(run.path);
  Config config;
  config.signature = {{1, 28, 28}, 10};
  write_config(run, config);
  const Json whole = read_json(run.config());
  const auto said = [&](const std::string& pointer, const Json& value) {
    Json json = whole;
    json[Json::json_pointer(pointer)] = value;
    return test::message_of([&] { config_in(run, json); });
  };
  EXPECT_EQ(said("/options/seed", 5), "");
  const std::vector<std::pair<std::string, Json>> wrong = {{"/options/batch", 0},
                                                           {"/options/widths", {64, -1}},
                                                           {"/options/widths", {64, 99999999999}},
                                                           {"/options/lr", "nan"},
                                                           {"/options/epochs", Json::object()},
                                                           {"/options/method", "magic"},
                                                           {"/options/threads", 2000},
                                                           {"/signature", Json::array()},
                                                           {"/signature/input", {1, -28, 28}},
                                                           {"/signature/input", {1, 28}},
                                                           {"/signature/outputs", 0},
                                                           {"/signature/outputs", "10"},
                                                           {"/signature/clicks", 1},
                                                           {"/signature/vocabularies", {0}},
                                                           {"/steps", -1},
                                                           {"/steps", "many"}};
  for (const auto& [pointer, value] : wrong) {
    EXPECT_TRUE(said(pointer, value).starts_with(run.config().string() + ": "))
        << pointer << said(pointer, value);
  }
}

TEST(Config, IsReadAsItWasWrittenWhateverItsKeysWere) {
  const test::TempFolder folder;
  const Folder run{folder / "run"};
  std::filesystem::create_directories(run.path);
  Config config;
  config.options.nesterov = false;
  config.options.optimiser = "adamw";
  config.steps = 12;
  config.signature = {{1, 28, 28}, 10};
  write_config(run, config);
  Json old = read_json(run.config());
  for (const auto& [now, before] :
       {std::pair("nesterov", "no-nesterov"), std::pair("augment", "no-augment")}) {
    old["options"][before] = !old["options"][now].get<bool>();
    old["options"].erase(now);
  }
  old["options"]["optimizer"] = old["options"]["optimiser"];
  old["options"].erase("optimiser");
  old["options"]["no-compare"] = false;
  write_json(run.config(), old);
  const Config read = read_config(run);
  config.options.out = run.path.string();
  EXPECT_EQ(read.options_json(), config.options_json());
  EXPECT_EQ(read.steps, 12);
  EXPECT_EQ(read.signature.outputs, 10);
  EXPECT_THROW(resumed_options(run, {{"nesterov", "true"}}), Error);
  EXPECT_EQ(resumed_options(run, {{"no-nesterov", "true"}, {"threads", "3"}}).threads, 3);
}

}  // namespace
}  // namespace hewn::run
