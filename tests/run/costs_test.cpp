#include "hewn/run/costs.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::run {
namespace {

Costs sample() {
  Costs out;
  out.model = "mlp";
  out.data = "fashion-mnist";
  out.input = {1, 28, 28};
  out.block = {16, 8};
  out.batch = 24;
  out.threads = 1;
  out.machine = "some processor";
  out.layers = {{"fc2", 0.3, 0, 0.1 / 3, 8192, 1}, {"fc1", 1.25, 0.125, 1e-4, 6272, 1}};
  return out;
}

Options timed() {
  Options out;
  out.prune.block = {16, 8};
  out.prune.budget = "ms=2";
  out.costs = "costs.json";
  return out;
}

TEST(Costs, AreReadAsTheyWereWritten) {
  const Costs read = parse_costs(to_json(sample()).dump(2), "file");
  EXPECT_EQ(to_json(read), to_json(sample()));
  ASSERT_EQ(read.layers.size(), 2U);
  EXPECT_EQ(read.layers[0].name, "fc2");
  EXPECT_EQ(read.layers[0].block_ms, 0.1 / 3);
  EXPECT_EQ(read.layers[1].positions, 1);
  EXPECT_EQ(read.block, (BlockShape{16, 8}));
}

TEST(Costs, DamageIsNamedByFileAndKey) {
  const auto problem = [](const Json& json) {
    return test::message_of([&] { parse_costs(json.dump(), "file"); });
  };
  EXPECT_EQ(test::message_of([] { parse_costs("{", "file"); }), "file: is not valid JSON");
  EXPECT_EQ(problem(Json::array()), "file: is not a file of costs (hewn advise --costs)");
  const Json whole = to_json(sample());
  for (const auto& [key, value] : whole.items()) {
    Json missing = whole;
    missing.erase(key);
    EXPECT_EQ(problem(missing), "file: has no \"" + key + "\"");
    Json wrong = whole;
    wrong[key] = Json::array({"?"});
    EXPECT_NE(problem(wrong).find("file: \"" + key + "\": expected "), std::string::npos) << problem(wrong);
  }
  for (const char* key : {"blocks", "positions", "dense_ms", "fixed_ms", "block_ms"}) {
    Json wrong = whole;
    wrong["layers"]["fc1"].erase(key);
    EXPECT_EQ(problem(wrong), std::string("file: has no \"layers.fc1.") + key + "\"");
    for (const Json& value : {Json(-1), Json("1"), Json(nullptr), Json(1e300)}) {
      wrong["layers"]["fc1"][key] = value;
      EXPECT_NE(problem(wrong).find(std::string("file: \"layers.fc1.") + key + "\": expected "),
                std::string::npos)
          << problem(wrong);
    }
  }
  Json wrong = whole;
  wrong["layers"]["fc1"]["block_ms"] = 0;
  EXPECT_EQ(problem(wrong), "file: \"layers.fc1.block_ms\": expected milliseconds above 0");
  wrong = whole;
  wrong["layers"]["fc1"] = 3;
  EXPECT_EQ(problem(wrong), "file: \"layers.fc1\": expected an object");
  wrong = whole;
  wrong["layers"]["fc1"]["more"] = 1;
  EXPECT_EQ(problem(wrong), "file: \"layers.fc1.more\": is not part of a file of costs");
  wrong = whole;
  wrong["block"] = "16x";
  EXPECT_EQ(problem(wrong), "file: \"block\": expected a block size such as 16x16");
}

TEST(Costs, AreForOneBlockAndBudget) {
  const std::string text = to_json(sample()).dump();
  Options options = timed();
  take_costs(options, text, "file");
  EXPECT_EQ(options.prune.times.size(), 2U);
  EXPECT_EQ(options.cost_text, text);
  options.prune.block = {16, 16};
  EXPECT_NE(test::message_of([&] {
              take_costs(options, text, "file");
            }).find("file: \"block\": is 16x8, but the run's is 16x16"),
            std::string::npos);
  EXPECT_NO_THROW(check_options(timed()));
  options = timed();
  options.costs.clear();
  EXPECT_NE(test::message_of([&] { check_options(options); }).find("budget: ms=2 needs costs"),
            std::string::npos);
  options = timed();
  options.prune.budget = "bytes=0.1";
  EXPECT_NE(test::message_of([&] { check_options(options); }).find("costs: are for budget ms="),
            std::string::npos);
}

TEST(Costs, AFileThatIsNotThereIsNamed) {
  const test::TempFolder folder;
  Options options = timed();
  options.costs = (folder / "none.json").string();
  EXPECT_NE(test::message_of([&] { load_costs(options); }).find("none.json"), std::string::npos);
}

}  // namespace
}  // namespace hewn::run
