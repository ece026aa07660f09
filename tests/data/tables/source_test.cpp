// Batches of a table.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "tests/support/message.h"
#include "tests/support/tables.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::message_of;
using test::write_text;

class TableFile : public testing::Test {
 protected:
  TableFile() { write_text(folder_ / "a.csv", test::regression_table(100)); }
  std::unique_ptr<Source> open(const DataOptions& options = {}, const std::string& name = "a.csv") const {
    return open_source("csv:" + (folder_ / name).string(), options);
  }
  test::TempFolder folder_;
};

TEST_F(TableFile, SaysWhatItIs) {
  const auto source = open();
  EXPECT_EQ(source->info().input, std::vector<int64_t>{10});
  EXPECT_EQ(source->info().classes, 1);
  EXPECT_EQ(source->info().kind, Kind::kNumbers);
  EXPECT_EQ(source->info().train_size, 80);
  EXPECT_EQ(source->info().test_size, 10);
  EXPECT_GT(source->info().target_scale, 100);
  const Batch all = open({.batch = 80})->train_batch(0, 0);
  EXPECT_LT(all.input.mean(0).abs().max().item<double>(), 1e-5);
  EXPECT_NEAR(all.target.std(0, false).item<double>(), 1, 1e-5);
  const auto classes = open({.tables = {.target = "x0", .task = "regression"}});
  EXPECT_EQ(classes->info().input, std::vector<int64_t>{10});  // y is a feature like any other
}

TEST_F(TableFile, ABatchIsAPureFunctionOfSeedEpochAndNumber) {
  const auto a = open({.batch = 16, .seed = 7});
  const auto b = open({.batch = 16, .seed = 7});
  EXPECT_EQ(a->train_batches(), 5);
  a->train_batch(0, 0);
  EXPECT_TRUE(at::equal(a->train_batch(3, 2).input, b->train_batch(3, 2).input));
  EXPECT_FALSE(at::equal(a->train_batch(4, 2).input, b->train_batch(3, 2).input));
  // What is held out does not depend on the seed.
  EXPECT_TRUE(at::equal(a->test_batch(0).input, open({.batch = 16, .seed = 8})->test_batch(0).input));
  const Batch half = open({.batch = 16, .share = {1, 2}, .seed = 7})->train_batch(0, 0);
  EXPECT_TRUE(at::equal(half.input, a->train_batch(0, 0).input.narrow(0, 8, 8)));
}

TEST_F(TableFile, ATestMayHaveAFileOfItsOwn) {
  write_text(folder_ / "b.csv", test::regression_table(7, 1000));
  const auto source = open({.tables = {.test_file = folder_ / "b.csv"}});
  EXPECT_EQ(source->info().train_size, 90);
  EXPECT_EQ(source->info().test_size, 7);
  const auto alone = open({.preprocessing = source->preprocessing()}, "b.csv");
  EXPECT_EQ(alone->info().train_size, 0);
  EXPECT_EQ(alone->train_batches(), 0);
  EXPECT_TRUE(at::equal(alone->test_batch(0).input, source->test_batch(0).input));
  EXPECT_TRUE(at::equal(alone->test_batch(0).target, source->test_batch(0).target));
}

TEST_F(TableFile, SharesThatLeaveNothingAreErrors) {
  DataOptions options;
  options.clicks.test_share = 0;
  EXPECT_NE(message_of([&] { open(options); }).find("test-share: leaves no row of"), std::string::npos);
  options.evaluate_on = Part::kValidation;
  EXPECT_EQ(open(options)->info().test_size, 10);
  write_text(folder_ / "one.csv", "a,y\n1,2\n");
  EXPECT_NE(message_of([&] { open({}, "one.csv"); }).find("none is left for training"), std::string::npos);
  EXPECT_EQ(message_of([&] { open_source("csv", {}); }), "data csv: expected a file, as csv:FILE");
}

TEST_F(TableFile, FewerRowsThanABatchAreSharedEvenly) {
  const auto rows = [&](int64_t rank, int64_t size) {
    return open({.batch = 120, .share = {rank, size}})->train_batch(0, 0).input;
  };
  EXPECT_EQ(rows(0, 1).size(0), 80);
  EXPECT_EQ(rows(2, 3).size(0), 26);
  EXPECT_TRUE(at::equal(rows(2, 3), rows(0, 1).narrow(0, 52, 26)));
  write_text(folder_ / "few.csv", "a,y\n1,1\n2,2\n3,4\n4,5\n");
  EXPECT_EQ(message_of([&] {
              open({.batch = 120, .share = {0, 3}}, "few.csv");
            }),
            "data: expected a training row for each of the 3 processes, got 2");
}

TEST_F(TableFile, ColumnsThatSayNothingAreTold) {
  write_text(folder_ / "c.csv", "k,a,y\n5,1,1\n5,2,2\n5,3,4\n5,4,5\n5,5,7\n");
  std::string said;
  open({.on_message = [&](const std::string& text) { said += text; }}, "c.csv");
  EXPECT_EQ(said, "columns with one value in all training rows, which say nothing: k");
}

}  // namespace
}  // namespace hewn::data
