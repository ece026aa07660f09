// The cache of a click log: what it holds, and when it is built.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/rows/buckets.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;
using test::criteo_rows;
using test::TempFolder;
using test::write_text;

/// Everything in a cache but where it came from.
std::string content(const fs::path& path) {
  const CacheFile cache(path);
  std::ostringstream out;
  for (size_t g = 0; g < cache.groups().size(); ++g) {
    const GroupView group = cache.group(g);
    out.write(reinterpret_cast<const char*>(group.labels), group.rows);
    out.write(reinterpret_cast<const char*>(group.parts), group.rows);
    for (size_t f = 0; f < group.columns.size(); ++f) {
      out.write(group.columns[f], static_cast<std::streamsize>(group.rows * cache.fields()[f].width));
    }
  }
  out << cache.metadata()["fields"].dump() << cache.metadata()["bad_rows"].dump();
  return out.str();
}

uint64_t value_at(const CacheFile& cache, const GroupView& group, size_t field, size_t row) {
  uint64_t value = 0;
  const uint32_t width = cache.fields()[field].width;
  std::memcpy(&value, group.columns[field] + row * width, width);
  return value;
}

TEST(ClickCache, NumbersLeadBackToTheText) {
  const TempFolder folder;
  const uint64_t rows = 3000;
  write_text(folder / "a.tsv", criteo_rows(0, rows));
  const CacheFile cache(prepare_clicks(request_for(folder / "a.tsv", folder / "cache")).cache);
  ASSERT_EQ(cache.rows(), rows);
  ASSERT_EQ(cache.fields().size(), 39U);
  std::vector<std::map<std::string, int>> counts(40);
  std::vector<std::vector<std::string>> text;
  for (uint64_t row = 0; row < rows; ++row) {
    text.push_back(split_line(test::criteo_row(row), '\t', false));
    for (size_t c = 0; c < 40; ++c) ++counts[c][text.back()[c]];
  }
  std::vector<std::vector<CountedValue>> vocabularies(39);
  for (size_t f = 13; f < 39; ++f) vocabularies[f] = cache.vocabulary(f);
  uint64_t row = 0;
  for (size_t g = 0; g < cache.groups().size(); ++g) {
    const GroupView group = cache.group(g);
    for (size_t i = 0; i < group.rows; ++i, ++row) {
      ASSERT_EQ(std::to_string(group.labels[i]), text[row][0]);
      for (size_t f = 0; f < 39; ++f) {
        const std::string& cell = text[row][f + 1];
        const uint64_t number = value_at(cache, group, f, i);
        if (cell.empty()) {
          ASSERT_EQ(number, 0U);
        } else if (f < 13) {
          ASSERT_EQ(number, bucket(int64_t{std::stoll(cell)}));
        } else if (counts[f + 1][cell] < 2) {
          ASSERT_EQ(number, kRareNumber);
        } else {
          const CountedValue& value = vocabularies[f].at(number - kFirstNumber);
          ASSERT_EQ(value.value, std::stoull(cell, nullptr, 16));
          ASSERT_EQ(static_cast<int>(value.count), counts[f + 1][cell]);
        }
      }
    }
  }
  EXPECT_EQ(row, rows);
}

TEST(ClickCache, EqualForAllNumbersOfThreads) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 5000) + "broken\n" + criteo_rows(5000, 100));
  const auto with = [&](size_t threads) {
    PrepareRequest request = request_for(folder / "a.tsv", folder / std::to_string(threads), threads);
    request.options.bad_rows = 0.01;
    return built(request);
  };
  const std::string one = with(1);
  EXPECT_EQ(with(3), one);
  EXPECT_EQ(with(7), one);
}

TEST(ClickCache, EqualHoweverTheTextIsPackedOrEnded) {
  const TempFolder folder;
  const std::string text = criteo_rows(0, 4000);
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  write_text(folder / "a", text);
  write_text(folder / "short", text.substr(0, text.size() - 1));
  write_text(folder / "long", text + "\n");
  test::write_gzip(folder / "a.gz", text);
  const auto of = [&](const char* name) {
    PrepareRequest request = request_for(folder / name, folder / "cache", 2);
    return content(prepare_clicks(request).cache);
  };
  const std::string plain = of("a");
  EXPECT_EQ(of("short"), plain);
  EXPECT_EQ(of("long"), plain);
  EXPECT_EQ(of("a.gz"), plain);
  if (std::system(("zstd -q " + (folder / "a").string()).c_str()) == 0) {
    const std::string error = message_of([&] { EXPECT_EQ(of("a.zst"), plain); });
    EXPECT_TRUE(error == "no error" || error.find("-DHEWN_ZSTD=ON") != std::string::npos) << error;
  }
  // Longer lines are cut into other chunks; the rows stay the same.
  write_text(folder / "windows", windows);
  PrepareRequest request = request_for(folder / "windows", folder / "cache");
  EXPECT_EQ(CacheFile(prepare_clicks(request).cache).rows(), 4000U);
}

TEST(ClickCache, EveryRowOfTheCriteoSampleIsAccountedFor) {
  const fs::path sample = fs::path(HEWN_SOURCE_DIR) / "../shared/data/criteo_sample.tsv.gz";
  if (!fs::exists(sample)) GTEST_SKIP() << sample << " is absent";
  const TempFolder folder;
  PrepareRequest request = request_for(sample, folder / "cache", 2);
  request.options.bad_rows = 0.5;
  const CacheFile cache(prepare_clicks(request).cache);
  EXPECT_EQ(cache.rows() + cache.metadata()["bad_rows"].get<uint64_t>(), 12513U);
  EXPECT_NEAR(cache.metadata()["clicks"].get<double>() / static_cast<double>(cache.rows()), 0.227, 0.0005);
}

TEST(ClickCache, MalformedRowsAreReportedAndTooManyRefused) {
  const TempFolder folder;
  std::string text = criteo_rows(0, 100);
  for (int i = 0; i < 7; ++i) text += "1\t2\n" + criteo_rows(0, 1);
  text += std::string(40000, 'x') + "\n" + criteo_rows(0, 1);  // longer than a chunk
  text += std::string("0\0\t\n", 4) + criteo_rows(0, 1) + "\n\n";
  write_text(folder / "a.tsv", text);
  PrepareRequest request = request_for(folder / "a.tsv", folder / "cache");
  std::vector<std::string> messages;
  request.on_message = [&](const std::string& message) { messages.push_back(message); };
  request.options.bad_rows = 0.2;
  const CacheFile cache(prepare_clicks(request).cache);
  EXPECT_EQ(cache.rows(), 109U);
  EXPECT_EQ(cache.metadata()["bad_rows"], 10);  // one of the two empty lines at the end is nothing
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[1],
            (folder / "a.tsv").string() + ":103: expected 40 columns, got 2; the row is left out");
  request.options.bad_rows = 0.01;
  const std::string expected =
      (folder / "a.tsv").string() +
      ":101: expected 40 columns, got 2; 10 of 119 rows are malformed, bad-rows allows a share of 0.01";
  EXPECT_EQ(message_of([&] { prepare_clicks(request); }), expected);  // also of a cache that is there
  fs::remove(prepare_clicks([&] {
               PrepareRequest again = request;
               again.options.bad_rows = 0.2;
               return again;
             }())
                 .cache);
  EXPECT_EQ(message_of([&] { prepare_clicks(request); }), expected);
  // What is no click log at all is not read to its end.
  std::string junk;
  for (int i = 0; i < 100000; ++i) junk += "nothing\n";
  write_text(folder / "a.tsv", junk);
  const std::string error = message_of([&] { prepare_clicks(request); });
  EXPECT_NE(error.find(":1: "), std::string::npos) << error;
  EXPECT_EQ(error.find("100000 of"), std::string::npos) << error;
}

TEST(ClickCache, BuiltAnewOnlyWhenFilesOrOptionsChange) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 500));
  PrepareRequest request = request_for(folder / "a.tsv", "");
  std::string said;
  request.on_message = [&](const std::string& message) { said = message; };
  EXPECT_TRUE(prepare_clicks(request).built);
  EXPECT_EQ(prepare_clicks(request).cache.parent_path(), folder / "a.tsv.hewn-cache");
  EXPECT_FALSE(prepare_clicks(request).built);
  EXPECT_EQ(said, "");
  request.options.min_count = 5;
  EXPECT_TRUE(prepare_clicks(request).built);
  EXPECT_NE(said.find("was made with min-count 2, not 5"), std::string::npos) << said;
  write_text(folder / "a.tsv", criteo_rows(0, 501));
  EXPECT_TRUE(prepare_clicks(request).built);
  EXPECT_NE(said.find("other files"), std::string::npos) << said;
  for (const auto& entry : fs::directory_iterator(folder / "a.tsv.hewn-cache")) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
}

TEST(ClickCache, FoldersOfDaysInTheirOrder) {
  const TempFolder folder;
  fs::create_directories(folder / "days");
  write_text(folder / "days/day_2", criteo_rows(300, 200));
  write_text(folder / "days/day_10", criteo_rows(500, 101));
  test::write_gzip(folder / "days/day_1.gz", criteo_rows(0, 300));
  write_text(folder / "days/README", "no log");
  write_text(folder / "all.tsv", criteo_rows(0, 601));
  PrepareRequest request = request_for(folder / "days", "");
  request.options.split = "day";
  const Prepared prepared = prepare_clicks(request);
  EXPECT_EQ(prepared.cache.parent_path(), folder / "days/.hewn-cache");
  const CacheFile cache(prepared.cache);
  std::vector<uint8_t> parts;
  for (size_t g = 0; g < cache.groups().size(); ++g) {
    const GroupView group = cache.group(g);
    parts.insert(parts.end(), group.parts, group.parts + group.rows);
  }
  ASSERT_EQ(parts.size(), 601U);
  for (size_t i = 0; i < parts.size(); ++i) ASSERT_EQ(parts[i], i < 500 ? 0 : i < 550 ? 1 : 2) << i;
  const CacheFile all(prepare_clicks(request_for(folder / "all.tsv", "")).cache);
  EXPECT_EQ(cache.metadata()["clicks"], all.metadata()["clicks"]);
  for (size_t f = 0; f < 39; ++f) EXPECT_EQ(cache.fields()[f].numbers, all.fields()[f].numbers);
  request.path = (folder / "days/day_2").string() + "," + (folder / "all.tsv").string();
  request.options.cache = (folder / "cache").string();
  EXPECT_EQ(CacheFile(prepare_clicks(request).cache).rows(), 801U);
  request.path = (folder / "all.tsv").string();
  EXPECT_NE(message_of([&] { prepare_clicks(request); }).find("split: day needs"), std::string::npos);
}

TEST(ClickCache, CsvWithASchema) {
  const TempFolder folder;
  write_text(
      folder / "a.csv",
      "id,click,price,\"shop, town\"\n1,0,10.5,\"a, \"\"b\"\"\"\n2,1,,c\n3,1,-1,\"a, \"\"b\"\"\"\n4,0,1,\n");
  write_text(folder / "s", "label=click\nnumeric=price\ncategorical=\"shop, town\"\nignore=id\n");
  PrepareRequest request = request_for(folder / "a.csv", folder / "cache");
  request.format = "ctr-csv";
  request.options.min_count = 1;
  EXPECT_NE(message_of([&] { prepare_clicks(request); }).find("give a schema"), std::string::npos);
  request.options.schema = (folder / "s").string();
  const CacheFile cache(prepare_clicks(request).cache);
  ASSERT_EQ(cache.rows(), 4U);
  EXPECT_EQ(cache.fields()[1].name, "shop, town");
  const GroupView group = cache.group(0);
  EXPECT_EQ(std::vector<uint8_t>(group.labels, group.labels + 4), (std::vector<uint8_t>{0, 1, 1, 0}));
  const uint64_t prices[] = {bucket(10.5), 0, 1, 3};
  const uint64_t shops[] = {2, 3, 2, 0};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(value_at(cache, group, 0, i), prices[i]);
    EXPECT_EQ(value_at(cache, group, 1, i), shops[i]);
  }
}

TEST(ClickCache, LogsOfNumbersAlone) {
  const TempFolder folder;
  write_text(folder / "a.csv", "1,5\n0,\n1,-2\n");
  write_text(folder / "s", "header = false\nlabel = 1\nnumeric = 2\n");
  PrepareRequest request = request_for(folder / "a.csv", folder / "cache");
  request.format = "ctr-csv";
  request.options.schema = (folder / "s").string();
  const CacheFile cache(prepare_clicks(request).cache);
  ASSERT_EQ(cache.rows(), 3U);
  EXPECT_EQ(value_at(cache, cache.group(0), 0, 0), bucket(int64_t{5}));
  EXPECT_EQ(cache.fields()[0].numbers, bucket(int64_t{5}) + 1U);
}

TEST(ClickCache, HashedValuesAreNotCounted) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 2000));
  PrepareRequest request = request_for(folder / "a.tsv", folder / "cache");
  request.options.hash_size = 100;
  const CacheFile cache(prepare_clicks(request).cache);
  std::map<std::pair<size_t, std::string>, uint64_t> seen;
  std::set<uint64_t> used;
  uint64_t row = 0;
  for (size_t g = 0; g < cache.groups().size(); ++g) {
    const GroupView group = cache.group(g);
    for (size_t i = 0; i < group.rows; ++i, ++row) {
      const std::vector<std::string> text = split_line(test::criteo_row(row), '\t', false);
      for (size_t f = 13; f < 39; ++f) {
        const uint64_t number = value_at(cache, group, f, i);
        const auto [known, fresh] = seen.insert({{f, text[f + 1]}, number});
        ASSERT_EQ(known->second, number);
        ASSERT_EQ(number == 0, text[f + 1].empty());
        used.insert(number);
      }
    }
  }
  EXPECT_EQ(cache.fields()[20].numbers, 101U);
  EXPECT_EQ(used.size(), 101U);
}

}  // namespace
}  // namespace hewn::data
