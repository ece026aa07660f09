// New rows of click logs become the numbers that training made of them, with nothing but what a model file
// carries; what is not known becomes what it was in training.
#include "hewn/data/inputs/click_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hewn/core/text.h"
#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/rows/buckets.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::TempFolder;
using test::write_text;

/// The numbers of all rows of a cache, in the order of the log.
std::vector<float> cached_numbers(const CacheFile& cache) {
  std::vector<float> out;
  for (size_t g = 0; g < cache.groups().size(); ++g) {
    const GroupView group = cache.group(g);
    for (uint32_t row = 0; row < group.rows; ++row) {
      for (size_t f = 0; f < cache.fields().size(); ++f) {
        const char* column = group.columns[f];
        const uint32_t width = cache.fields()[f].width;
        out.push_back(width == 1   ? static_cast<float>(reinterpret_cast<const uint8_t*>(column)[row])
                      : width == 2 ? static_cast<float>(reinterpret_cast<const uint16_t*>(column)[row])
                                   : static_cast<float>(reinterpret_cast<const uint32_t*>(column)[row]));
      }
    }
  }
  return out;
}

std::vector<int64_t> vocabularies_of(const CacheFile& cache) {
  std::vector<int64_t> out;
  for (const CacheField& field : cache.fields()) out.push_back(static_cast<int64_t>(field.numbers));
  return out;
}

ClickInputs inputs_of(const CacheFile& cache) {
  const Preprocessing made = click_preprocessing(cache);
  // As a file would bring it.
  return ClickInputs(click_rule(Json::parse(made.rule.dump()), made.arrays, vocabularies_of(cache)));
}

std::vector<float> numbers_of(const ClickInputs& inputs, const std::string& text, int64_t rows = 100) {
  std::vector<float> out;
  inputs.read(text_of(text), "log", rows, [&](const float* values, int64_t count) {
    EXPECT_LE(count, rows);
    out.insert(out.end(), values, values + count * 39);
    return true;
  });
  return out;
}

/// Each row without its first column.
std::string without_labels(const std::string& rows) {
  std::string out;
  for (const std::string& row : split(rows, '\n')) {
    if (!row.empty()) out += row.substr(row.find('\t') + 1) + "\n";
  }
  return out;
}

class NewRows : public testing::Test {
 protected:
  CacheFile cache(int64_t hash_size) const {
    write_text(folder_ / "log.tsv", criteo_rows_);
    PrepareRequest request = request_for(folder_ / "log.tsv", folder_ / "cache");
    request.options.hash_size = hash_size;
    return CacheFile(prepare_clicks(request).cache);
  }

  TempFolder folder_;
  std::string criteo_rows_ = test::criteo_rows(0, 1500);
};

TEST(BucketCuts, AreTheBucketsThemselves) {
  const std::vector<double> cuts = bucket_cuts(kLargestBucket + 1);
  EXPECT_EQ(cuts.size(), 1022U);
  const auto by_cuts = [&](double x) {
    return 1 + (std::upper_bound(cuts.begin(), cuts.end(), x) - cuts.begin());
  };
  const auto expect_equal = [&](double x) { EXPECT_EQ(by_cuts(x), bucket(x)) << x; };
  for (const double cut : cuts) {
    for (const double x : {std::nextafter(cut, -1.0), cut, std::nextafter(cut, 1e300)}) expect_equal(x);
  }
  for (const double x : {-1e300, -1.0, -0.0, 2.9999999, 1e18, 1e300}) expect_equal(x);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) expect_equal(std::exp(std::uniform_real_distribution(-5.0, 35.0)(random)));
  EXPECT_TRUE(bucket_cuts(0).empty() && bucket_cuts(2).empty());
  EXPECT_EQ(bucket_cuts(4), (std::vector<double>{0, 1}));
}

TEST_F(NewRows, GetTheNumbersOfTraining) {
  for (const int64_t hash_size : {0, 50}) {
    const CacheFile cached = cache(hash_size);
    const ClickInputs inputs = inputs_of(cached);
    const std::vector<float> expected = cached_numbers(cached);
    ASSERT_EQ(expected.size(), 1500U * 39);
    EXPECT_EQ(numbers_of(inputs, criteo_rows_), expected);
    EXPECT_EQ(numbers_of(inputs, without_labels(criteo_rows_), 7), expected);
    test::write_gzip(folder_ / "log.gz", criteo_rows_);
    std::vector<float> packed;
    inputs.read(folder_ / "log.gz", 1000, [&](const float* values, int64_t count) {
      packed.assign(values, values + count * 39);
      return false;
    });
    EXPECT_EQ(packed, std::vector<float>(expected.begin(), expected.begin() + 1000 * 39));
  }
}

TEST_F(NewRows, UnknownValuesAreWhatRareOnesWere) {
  const CacheFile cached = cache(0);
  std::string row = "1";
  for (int i = 0; i < 13; ++i) row += i == 0 ? "\t-5" : i == 1 ? "\t" : "\t99999999999999999";
  for (int i = 0; i < 26; ++i) row += i == 0 ? "\t" : "\tfedcba98";
  const std::vector<float> got = numbers_of(inputs_of(cached), row);
  ASSERT_EQ(got.size(), 39U);
  EXPECT_EQ(got[0], 1);
  EXPECT_EQ(got[1], 0);
  for (size_t f = 2; f < 13; ++f) EXPECT_EQ(got[f], vocabularies_of(cached)[f] - 1) << f;
  EXPECT_EQ(got[13], 0);
  for (size_t f = 14; f < 39; ++f) EXPECT_EQ(got[f], 1) << f;
}

TEST_F(NewRows, MalformedOnesAreNamed) {
  const ClickInputs inputs = inputs_of(cache(0));
  const std::string good = test::criteo_row(3);
  EXPECT_EQ(message_of([&] { numbers_of(inputs, "a\tb\n"); }),
            "log:1: expected 40 columns, or 39 without the label, got 2");
  // The first row tells whether there are labels.
  EXPECT_TRUE(
      message_of([&] { numbers_of(inputs, without_labels(good + "\n") + good); }).starts_with("log:2: "));
  std::string bad = good;
  bad.replace(bad.find('\t') + 1, 0, "x");
  EXPECT_EQ(message_of([&] { numbers_of(inputs, good + "\n" + good + "\n" + bad); }),
            "log:3: column 2 (I1): expected a number");
}

TEST(NewRowsWithAHeader, MayHaveTheirColumnsInAnyOrder) {
  const TempFolder folder;
  write_text(folder / "schema", "label = clicked\nnumeric = age\ncategorical = town, \"a,b\"\nignore = *\n");
  write_text(folder / "log.csv", "id,clicked,age,town,\"a,b\"\n1,0,30,Bern,x\n2,1,40,Bern,y\n3,0,,Wil,x\n");
  PrepareRequest request = request_for(folder / "log.csv", folder / "cache");
  request.format = "ctr-csv";
  request.options.schema = (folder / "schema").string();
  request.options.min_count = 1;
  const CacheFile cached(prepare_clicks(request).cache);
  const ClickInputs inputs = inputs_of(cached);
  std::vector<float> got;
  const auto take = [&](const float* values, int64_t count) {
    got.assign(values, values + count * 3);
    return true;
  };
  const std::string same = "\xef\xbb\xbftown,\"a,b\",more,age\r\nBern,x,,30\r\nBern,y,7,40\r\nWil,x,,\r\n";
  inputs.read(text_of(same), "log", 10, take);
  EXPECT_EQ(got, cached_numbers(cached));
  EXPECT_EQ(message_of([&] { inputs.read(text_of("twn,\"a,b\",age\nBern,x,30\n"), "log", 10, take); }),
            "log:1: the header has no column \"town\", which the model was trained on (did you mean twn?)");
}

TEST_F(NewRows, RulesAreHostileUntilChecked) {
  const CacheFile cached = cache(0);
  const Preprocessing good = click_preprocessing(cached);
  const std::vector<int64_t> vocabularies = vocabularies_of(cached);
  const auto complaint = [&](const std::function<void(Json&, Arrays&)>& edit) {
    Preprocessing bad = good;
    edit(bad.rule, bad.arrays);
    return message_of([&] { click_rule(bad.rule, bad.arrays, vocabularies); });
  };
  EXPECT_EQ(complaint([](Json&, Arrays&) {}), "no error");
  using Words = std::vector<int64_t>;
  const Words known = std::get<Words>(good.arrays.at("13.values"));
  const auto with_values = [&](const std::function<void(Words&)>& edit) {
    return complaint([&](Json&, Arrays& arrays) { edit(std::get<Words>(arrays["13.values"])); });
  };
  EXPECT_NE(with_values([](Words& v) { v.push_back(1); }).find("values for a field of"), std::string::npos);
  EXPECT_NE(with_values([](Words& v) { v[1] = v[0]; }).find("twice"), std::string::npos);
  EXPECT_NE(with_values([](Words& v) { v[1] = -1; }).find("missing"), std::string::npos);
  const auto with_cuts = [&](const std::vector<double>& cuts) {
    return complaint([&](Json&, Arrays& arrays) { arrays["0.cuts"] = cuts; });
  };
  EXPECT_NE(with_cuts({2, 1}).find("grow"), std::string::npos);
  EXPECT_NE(with_cuts({0, std::nan("")}).find("grow"), std::string::npos);
  EXPECT_NE(complaint([](Json&, Arrays& arrays) { arrays.erase("0.cuts"); }).find("preprocessing.0.cuts"),
            std::string::npos);
  EXPECT_NE(complaint([](Json&, Arrays& arrays) {
              arrays["13.values"] = std::vector<double>(3);
            }).find("preprocessing.13.values"),
            std::string::npos);
  const auto with_rule = [&](const char* key, const Json& value) {
    return complaint([&](Json& rule, Arrays&) { rule[key] = value; });
  };
  EXPECT_NE(with_rule("separator", 10), "no error");
  EXPECT_NE(with_rule("separator", "tab"), "no error");
  EXPECT_NE(with_rule("header", 1), "no error");
  EXPECT_NE(with_rule("columns", Json::array()), "no error");
  EXPECT_NE(with_rule("columns", Json::array({{{"name", "a"}, {"role", "king"}}})), "no error");
  EXPECT_NE(with_rule("columns", Json(std::vector<int>(5000))), "no error");
  EXPECT_NE(with_rule("hash_size", 0), "no error");
  EXPECT_NE(with_rule("hash_size", 3).find("hash_size"), std::string::npos);
  EXPECT_NE(message_of([&] {
              click_rule(good.rule, good.arrays, {3, 4});
            }).find("39 fields"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::data
