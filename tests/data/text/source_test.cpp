// A text as data: its characters, its parts, and the windows that batches are made of.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/data/text/reader.h"
#include "tests/support/click_logs.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::message_of;
using test::write_text;

/// Three letters tell a place in it: "aaa", "aab", ...
std::string counted(int64_t triples) {
  std::string out;
  for (int64_t i = 0; i < triples; ++i) {
    for (const int64_t scale : {676, 26, 1}) out.push_back(static_cast<char>('a' + i / scale % 26));
  }
  return out;
}

class Texts : public testing::Test {
 protected:
  Texts() { write_text(folder_ / "a", counted(1000)); }

  std::string spec(const std::string& name = "a") const { return "text:" + (folder_ / name).string(); }
  static DataOptions options(int64_t batch = 10, int64_t context = 12) {
    DataOptions out;
    out.batch = batch;
    out.seed = 5;
    out.text.context = context;
    return out;
  }
  test::TempFolder folder_;
};

TEST_F(Texts, ABatchIsAPureFunctionOfSeedEpochAndNumber) {
  const auto a = open_source(spec(), options());
  const auto b = open_source(spec(), options());
  a->train_batch(0, 0);
  const Batch first = a->train_batch(3, 2);
  const Batch second = b->train_batch(3, 2);  // without the batches before it
  EXPECT_TRUE(at::equal(first.input, second.input));
  EXPECT_TRUE(at::equal(first.target, second.target));
  EXPECT_FALSE(at::equal(first.input, a->train_batch(4, 2).input));
  EXPECT_FALSE(at::equal(first.input, a->train_batch(3, 1).input));
  DataOptions other = options();
  other.seed = 6;
  EXPECT_FALSE(at::equal(first.input, open_source(spec(), other)->train_batch(3, 2).input));
}

TEST_F(Texts, TargetsAreTheCharactersBehind) {
  const auto source = open_source(spec(), options());
  EXPECT_EQ(source->info().kind, Kind::kText);
  EXPECT_EQ(source->info().input, std::vector<int64_t>{12});
  EXPECT_EQ(source->info().classes, 26);
  EXPECT_EQ(source->info().targets, 12);
  EXPECT_EQ(source->info().train_size, (2400 - 1) / 12);
  EXPECT_EQ(source->train_batches(), 19);
  for (const Batch& batch : {source->train_batch(0, 0), source->test_batch(0)}) {
    EXPECT_EQ(batch.input.sizes(), (std::vector<int64_t>{10, 12}));
    EXPECT_EQ(batch.input.scalar_type(), at::kLong);
    EXPECT_TRUE(batch.input.is_contiguous() && batch.target.is_contiguous());
    EXPECT_TRUE(at::equal(batch.input.narrow(1, 1, 11), batch.target.narrow(1, 0, 11)));
  }
}

/// Where windows begin and end in the text, found by their letters.
std::set<int64_t> places_of(const Batch& batch, const std::string& text) {
  std::set<int64_t> out;
  for (int64_t row = 0; row < batch.input.size(0); ++row) {
    std::string letters(1, static_cast<char>('a' + batch.input[row][0].item<int64_t>()));
    for (int64_t i = 0; i < batch.target.size(1); ++i)
      letters.push_back(static_cast<char>('a' + batch.target[row][i].item<int64_t>()));
    const size_t found = text.find(letters);
    EXPECT_NE(found, std::string::npos) << letters;
    for (size_t i = 0; i < letters.size(); ++i) out.insert(static_cast<int64_t>(found + i));
  }
  return out;
}

TEST_F(Texts, PartsDoNotOverlap) {
  const std::string text = counted(1000);
  DataOptions validating = options();
  validating.evaluate_on = Part::kValidation;
  const auto source = open_source(spec(), options());
  const auto second = open_source(spec(), validating);
  std::set<int64_t> seen;
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    for (int64_t n = 0; n < source->train_batches(); ++n)
      seen.merge(places_of(source->train_batch(epoch, n), text));
  }
  EXPECT_LT(*seen.begin(), 20);  // drawn from all of the part
  EXPECT_GT(*seen.rbegin(), 2380);
  EXPECT_LT(*seen.rbegin(), 2400);
  const auto held_out = [&](Source& from) {
    std::set<int64_t> places;
    int64_t windows = 0;
    for (int64_t n = 0; n < from.test_batches(); ++n) {
      const Batch batch = from.test_batch(n);
      windows += batch.input.size(0);
      places.merge(places_of(batch, text));
    }
    EXPECT_EQ(windows, from.info().test_size);
    EXPECT_EQ(static_cast<int64_t>(places.size()), windows * 12 + 1);  // one behind the other
    return places;
  };
  const std::set<int64_t> test = held_out(*source);
  const std::set<int64_t> validation = held_out(*second);
  EXPECT_EQ(*validation.begin(), 2400);
  EXPECT_LT(*validation.rbegin(), 2700);
  EXPECT_EQ(*test.begin(), 2700);
  EXPECT_GT(*test.rbegin(), 2987);
}

TEST_F(Texts, SharesOfABatchMakeTheWhole) {
  const auto whole = open_source(spec(), options(12));
  std::vector<at::Tensor> parts;
  for (int64_t rank = 0; rank < 3; ++rank) {
    DataOptions own = options(12);
    own.share = {rank, 3};
    parts.push_back(open_source(spec(), own)->train_batch(1, 2).target);
  }
  EXPECT_TRUE(at::equal(at::cat(parts), whole->train_batch(1, 2).target));
}

TEST_F(Texts, GzipMarksAndLineEndsMakeNoDifference) {
  const std::string lines = counted(200) + "\n" + counted(200) + "\n";
  std::string odd = "\xEF\xBB\xBF";
  for (const char c : lines) odd += c == '\n' ? std::string("\r\n") : std::string(1, c);
  write_text(folder_ / "plain", lines);
  write_text(folder_ / "odd", odd);
  test::write_gzip(folder_ / "packed.gz", lines);
  write_text(folder_ / "book",
             "By Nobody\n*** START OF THIS BOOK ***\n" + lines + "*** END OF THIS BOOK ***\nLaw\n");
  EXPECT_EQ(read_text(folder_ / "book"), lines);
  const Batch expected = open_source(spec("plain"), options())->train_batch(0, 1);
  for (const char* name : {"odd", "packed.gz", "book"}) {
    const auto source = open_source(spec(name), options());
    EXPECT_EQ(source->info().classes, 27) << name;
    EXPECT_TRUE(at::equal(source->train_batch(0, 1).input, expected.input)) << name;
  }
}

TEST_F(Texts, AnotherTextIsReadWithTheAlphabetOfTheFirst) {
  DataOptions own = options();
  own.preprocessing = open_source(spec(), options())->preprocessing();
  write_text(folder_ / "b", std::string(20, 'z') + std::string(20, 'c'));
  const auto source = open_source(spec("b"), own);
  EXPECT_EQ(source->info().classes, 26);
  EXPECT_EQ(source->info().train_size, 0);
  EXPECT_EQ(source->info().test_size, 3);  // all of it is held out
  EXPECT_EQ(source->test_batch(0).input[0][0].item<int64_t>(), 25);
  write_text(folder_ / "c", std::string(50, 'a') + "!");
  EXPECT_NE(message_of([&] { open_source(spec("c"), own); }).find("its byte 50 is 33, which the text"),
            std::string::npos);
  for (const char* bytes : {"null", "[1]", "[3, 2]", "[2, 2]", "[-1, 4]", "[4, 256]", "[\"a\", 3]"}) {
    own.preprocessing.rule["bytes"] = Json::parse(bytes);
    EXPECT_NE(message_of([&] { open_source(spec("b"), own); }).find("which characters"), std::string::npos)
        << bytes;
  }
}

TEST_F(Texts, ErrorsNameTheFileAndWhatWasExpected) {
  EXPECT_EQ(message_of([&] { open_source(spec("absent"), options()); }),
            "data text: no file " + (folder_ / "absent").string() + "; give data as text:FILE");
  write_text(folder_ / "empty", "");
  EXPECT_EQ(message_of([&] { open_source(spec("empty"), options()); }),
            (folder_ / "empty").string() + ": is empty; expected text");
  write_text(folder_ / "same", std::string(500, 'a'));
  EXPECT_NE(message_of([&] { open_source(spec("same"), options()); }).find("a single character"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              open_source(spec(), options(10, 300));
            }).find("its test part has 300 characters; expected more than the context of 300"),
            std::string::npos);
  EXPECT_NE(message_of([&] { open_source(spec(), options(10, 2400)); }).find("its training part has 2400"),
            std::string::npos);
  DataOptions shares = options();
  shares.clicks.test_share = 1;
  EXPECT_NE(message_of([&] { open_source(spec(), shares); }).find("test-share"), std::string::npos);
}

TEST(UsualText, IsABookWhereInstalled) {
  const std::string problem = message_of([] { open_source("text", {}); });
  if (!problem.empty()) {
    EXPECT_NE(problem.find("; install the package golang-github-pierrec-lz4-dev or give data as text:FILE"),
              std::string::npos);
    GTEST_SKIP() << problem;
  }
  const auto source = open_source("text", {});
  EXPECT_GT(source->info().train_size, 6000);
  EXPECT_LT(source->info().classes, 100);
}

}  // namespace
}  // namespace hewn::data
