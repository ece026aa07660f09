// Batches of click logs: every row once an epoch, and each a pure function of (seed, epoch, number).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hewn/core/options.h"
#include "hewn/data/clicks/batches/order.h"
#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::TempFolder;

class ClickBatches : public testing::Test {
 protected:
  // Every row has a value of its own, so rows can be told apart by its number.
  void SetUp() override {
    std::string text;
    for (int i = 0; i < kRows; ++i) text += std::to_string(i % 2) + ",row" + std::to_string(i) + "\n";
    test::write_text(folder_ / "a.csv", text);
    test::write_text(folder_ / "s", "header = false\nlabel = 1\ncategorical = 2\n");
    options_.clicks.schema = (folder_ / "s").string();
    options_.clicks.min_count = 1;
    options_.batch = 64;
  }
  std::unique_ptr<Source> open() const {
    return open_source("ctr-csv:" + (folder_ / "a.csv").string(), options_);
  }
  static void collect(const Batch& batch, std::map<int, int>& seen) {
    ASSERT_EQ(batch.input.scalar_type(), at::kInt);
    ASSERT_EQ(batch.target.scalar_type(), at::kFloat);
    ASSERT_EQ(batch.input.size(0), batch.target.size(0));
    for (int64_t i = 0; i < batch.input.size(0); ++i) ++seen[batch.input[i][0].item<int>()];
  }

  static constexpr int kRows = 5000;
  TempFolder folder_;
  DataOptions options_;
};

TEST_F(ClickBatches, EveryTrainingRowOnceAnEpochAndPartsAreDisjoint) {
  const auto source = open();
  const DataInfo& info = source->info();
  EXPECT_EQ(info.kind, Kind::kClicks);
  EXPECT_EQ(info.input, std::vector<int64_t>{1});
  EXPECT_EQ(info.vocabularies, std::vector<int64_t>{kRows + 2});
  EXPECT_NEAR(static_cast<double>(info.train_size) / kRows, 0.8, 0.03);
  EXPECT_NEAR(static_cast<double>(info.test_size) / kRows, 0.1, 0.02);
  std::map<int, int> train;
  for (int64_t n = 0; n < source->train_batches(); ++n) collect(source->train_batch(0, n), train);
  EXPECT_EQ(static_cast<int64_t>(train.size()), source->train_batches() * 64);  // so none came twice
  EXPECT_LT(info.train_size - static_cast<int64_t>(train.size()), 64);
  std::map<int, int> test;
  for (int64_t n = 0; n < source->test_batches(); ++n) collect(source->test_batch(n), test);
  EXPECT_EQ(static_cast<int64_t>(test.size()), info.test_size);
  options_.evaluate_on = Part::kValidation;
  const auto validating = open();
  std::map<int, int> validation;
  for (int64_t n = 0; n < validating->test_batches(); ++n) collect(validating->test_batch(n), validation);
  EXPECT_EQ(static_cast<int64_t>(validation.size()), validating->info().test_size);
  EXPECT_EQ(info.train_size + info.test_size + validating->info().test_size, kRows);
  for (const auto& [row, times] : validation) EXPECT_FALSE(train.contains(row) || test.contains(row));
  for (const auto& [row, times] : test) EXPECT_FALSE(train.contains(row));
}

TEST_F(ClickBatches, PureFunctionsOfSeedEpochAndNumber) {
  const auto one = open();
  const auto two = open();
  const Batch first = one->train_batch(0, 3);
  one->train_batch(2, 0);
  const Batch later = one->train_batch(0, 3);
  const Batch other = two->train_batch(0, 3);
  EXPECT_TRUE(first.input.equal(later.input) && first.target.equal(later.target));
  EXPECT_TRUE(first.input.equal(other.input));
  EXPECT_FALSE(first.input.equal(one->train_batch(1, 3).input));
  EXPECT_TRUE(one->test_batch(0).input.equal(two->test_batch(0).input));
  options_.seed = 1;
  const auto reseeded = open();
  EXPECT_FALSE(first.input.equal(reseeded->train_batch(0, 3).input));
  EXPECT_TRUE(one->test_batch(0).input.equal(reseeded->test_batch(0).input));
}

TEST_F(ClickBatches, LabelsStayWithTheirRows) {
  const auto source = open();
  std::map<int, float> label;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    for (int64_t n = 0; n < source->train_batches(); ++n) {
      const Batch batch = source->train_batch(epoch, n);
      for (int64_t i = 0; i < batch.input.size(0); ++i) {
        const auto [known, fresh] =
            label.insert({batch.input[i][0].item<int>(), batch.target[i].item<float>()});
        ASSERT_EQ(known->second, batch.target[i].item<float>());
      }
    }
  }
  float sum = 0;
  for (const auto& [row, value] : label) sum += value;
  EXPECT_NEAR(sum / static_cast<float>(label.size()), 0.5F, 0.03F);
}

TEST_F(ClickBatches, EmptyPartsAndWrongOptionsAreErrors) {
  options_.clicks.test_share = 0;
  EXPECT_NE(message_of([&] { open(); }).find("--test-share"), std::string::npos);
  options_.clicks.test_share = 1.5;
  EXPECT_NE(message_of([&] { open(); }).find("test-share: expected"), std::string::npos);
  options_.clicks.test_share = 0.6;
  options_.clicks.validation_share = 0.5;
  EXPECT_NE(message_of([&] { open(); }).find("no row is left"), std::string::npos);
  options_.clicks = {};
  options_.clicks.split = "week";
  EXPECT_NE(message_of([&] { open(); }).find("split: expected hash or day"), std::string::npos);
  EXPECT_NE(message_of([&] { open_source("criteo", {}); }).find("criteo:PATH"), std::string::npos);
  EXPECT_NE(message_of([&] { open_source("criteo:/nowhere", {}); }).find("/nowhere"), std::string::npos);
}

TEST(ClickOrder, WindowsOfManyGroupsHoldEveryRowOnce) {
  std::vector<CacheGroup> groups(40);
  uint64_t rows = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].parts[0] = static_cast<uint32_t>(g % 5 == 0 ? 0 : 20000 + 1000 * g);
    rows += groups[g].parts[0];
  }
  const std::vector<Window> windows = epoch_windows(groups, 3, 7);
  EXPECT_GT(windows.size(), 3U);
  std::vector<int> used(groups.size());
  uint64_t begin = 0;
  for (size_t w = 0; w < windows.size(); ++w) {
    EXPECT_EQ(windows[w].begin, begin);
    begin += windows[w].rows;
    uint64_t sum = 0;
    for (const size_t g : windows[w].groups) {
      ++used[g];
      sum += groups[g].parts[0];
    }
    EXPECT_EQ(sum, windows[w].rows);
    std::vector<bool> taken(sum);
    const std::vector<uint32_t> positions = window_positions(windows[w], w, 3, 7);
    uint64_t stayed = 0;
    for (size_t i = 0; i < positions.size(); ++i) {
      ASSERT_FALSE(taken.at(positions[i]));
      taken[positions[i]] = true;
      stayed += positions[i] == i ? 1U : 0U;
    }
    EXPECT_LT(stayed, 20U);
    EXPECT_NE(positions, window_positions(windows[w], w, 3, 8));
  }
  EXPECT_EQ(begin, rows);
  for (size_t g = 0; g < groups.size(); ++g) EXPECT_EQ(used[g], g % 5 == 0 ? 0 : 1);
}

TEST(ClickOptionTable, NamesEveryField) {
  ClickOptions options;
  OptionTable table;
  describe(options, table);
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"schema", "cache", "min-count", "hash-size", "split",
                                                    "test-share", "validation-share", "bad-rows"}));
  table.find("hash-size", "here").parse("77");
  EXPECT_EQ(options.hash_size, 77);
}

}  // namespace
}  // namespace hewn::data
