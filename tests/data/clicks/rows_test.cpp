// Rows of click logs: the parser beside an obvious twin, buckets, schemas.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/data/clicks/rows/buckets.h"
#include "hewn/data/clicks/rows/row_parser.h"
#include "hewn/data/clicks/rows/schema.h"
#include "hewn/data/plumbing/hash.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"

namespace hewn::data {
namespace {

struct Row {
  int label = 0;
  std::vector<uint16_t> numeric;
  std::vector<uint64_t> categorical;
  bool operator==(const Row&) const = default;
};

/// The twin: splits, matches patterns, converts with the C library.
std::optional<Row> slow_parse(const Schema& schema, const std::string& line) {
  static const std::regex kNumber("-?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?");
  static const std::regex kHex("[0-9a-fA-F]{1,8}");
  static const std::regex kQuoted("\"(([^\"]|\"\")*)\"");
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false;
  for (const char c : line) {
    if (schema.quotes && c == '"' && (quoted || cell.empty() || cell.front() == '"')) quoted = !quoted;
    if (c == schema.separator && !quoted) {
      cells.push_back(cell);
      cell.clear();
    } else {
      cell += c;
    }
  }
  cells.push_back(cell);
  if (cells.size() != schema.columns.size()) return std::nullopt;
  Row row;
  for (size_t c = 0; c < cells.size(); ++c) {
    std::string text = cells[c];
    if (schema.quotes && text.starts_with('"')) {
      if (!std::regex_match(text, kQuoted)) return std::nullopt;
      text = std::regex_replace(text.substr(1, text.size() - 2), std::regex("\"\""), "\"");
    }
    switch (schema.columns[c].role) {
      case Role::kIgnored:
        break;
      case Role::kLabel:
        if (text != "0" && text != "1") return std::nullopt;
        row.label = text == "1" ? 1 : 0;
        break;
      case Role::kNumeric: {
        const double number = std::strtod(text.c_str(), nullptr);
        if (!text.empty() && (!std::regex_match(text, kNumber) || !std::isfinite(number)))
          return std::nullopt;
        const double x = std::log(std::max(number, 1e-9));
        row.numeric.push_back(static_cast<uint16_t>(text.empty() ? 0
                                                    : number < 0 ? 1
                                                    : number < 3 ? 2 + std::floor(number)
                                                                 : std::min(1023.0, 4 + std::floor(x * x))));
        break;
      }
      case Role::kCategorical:
        if (schema.hex && !text.empty() && !std::regex_match(text, kHex)) return std::nullopt;
        row.categorical.push_back(text.empty() ? kMissing
                                  : schema.hex ? std::strtoull(text.c_str(), nullptr, 16)
                                               : hash_text(text));
        break;
    }
  }
  return row;
}

std::optional<Row> fast_parse(const Schema& schema, const std::string& line) {
  RowParser parser(schema);
  RowBlock block(schema, 2);
  const Parsed parsed = parser.parse(line, block);
  EXPECT_EQ(parsed.problem == Problem::kNone, block.rows == 1);
  if (parsed.problem != Problem::kNone) {
    EXPECT_FALSE(parser.explain(parsed, line).empty());
    return std::nullopt;
  }
  Row row;
  row.label = block.labels[0];
  for (size_t c = 0; c < block.numeric.size(); c += 2) row.numeric.push_back(block.numeric[c]);
  for (size_t c = 0; c < block.categorical.size(); c += 2) row.categorical.push_back(block.categorical[c]);
  return row;
}

/// Changes one position of a line, or none.
std::string damaged(std::string line, uint64_t number) {
  const auto words = draw(3, Stream::kPattern, 0, number);
  static const std::string kLetters("\t,09afgAZ-.e\"\0 x\x80", 17);
  const size_t position = below(words[1], static_cast<uint32_t>(line.size() + 1));
  const char letter = kLetters[below(words[2], static_cast<uint32_t>(kLetters.size()))];
  if (words[0] % 4 == 1) line.insert(position, 1, letter);
  if (words[0] % 4 == 2 && position < line.size()) line[position] = letter;
  if (words[0] % 4 == 3) line.erase(position, 1 + words[3] % 12);
  return line;
}

TEST(ClickRows, ParserAgreesWithItsTwinOnCriteoRows) {
  const Schema schema = criteo_schema();
  int good = 0;
  constexpr int kRows = 4000;
  for (uint64_t i = 0; i < kRows; ++i) {
    const std::string line = damaged(test::criteo_row(i), i);
    const auto expected = slow_parse(schema, line);
    ASSERT_EQ(fast_parse(schema, line), expected) << line;
    good += expected ? 1 : 0;
  }
  EXPECT_GT(good, kRows / 4);
  EXPECT_LT(good, kRows * 3 / 4);
}

TEST(ClickRows, ParserAgreesWithItsTwinOnQuotedValues) {
  const Schema schema = resolve(
      parse_schema("label = 2\nnumeric = 1, 5\ncategorical = 3\nignore = 4\nheader = false", "s"), "", "d");
  const std::vector<std::string> cells = {"",      "0",          "1",       "\"1\"", "\"0\"",
                                          "-3.5",  "2e3",        "\"2.5\"", "a b",   "\"a,b\"",
                                          "\"\"",  "\"a\"\"b\"", "\"a",     "x\"y",  "\"a\"b",
                                          "1e999", "nan",        "0x10",    "+1",    "18446744073709551616"};
  int good = 0;
  for (uint64_t i = 0; i < 40000; ++i) {
    std::string line;
    for (uint64_t c = 0; c < 5; ++c) {
      const auto word = draw(4, Stream::kPattern, c, i)[0];
      line += (c == 0 ? "" : ",") + cells[word % cells.size()];
    }
    const auto expected = slow_parse(schema, line);
    ASSERT_EQ(fast_parse(schema, line), expected) << line;
    good += expected ? 1 : 0;
  }
  EXPECT_GT(good, 500);
}

TEST(ClickRows, MalformedRowsAreExplained) {
  const Schema schema = criteo_schema();
  const auto reason = [&](const std::string& line) {
    RowParser parser(schema);
    RowBlock block(schema, 1);
    return parser.explain(parser.parse(line, block), line);
  };
  const std::string empty(38, '\t');
  EXPECT_EQ(reason("0\t" + empty), "");
  EXPECT_EQ(reason("0" + empty), "expected 40 columns, got 39");
  EXPECT_EQ(reason("0\t\t" + empty), "expected 40 columns, got 41");
  EXPECT_EQ(reason(""), "column 1 (label): expected the label 0 or 1");
  EXPECT_EQ(reason("2\t" + empty), "column 1 (label): expected the label 0 or 1");
  EXPECT_EQ(reason("0\t1x" + empty), "column 2 (I1): expected a number");
  EXPECT_EQ(reason("0\t" + empty + "123456789"), "column 40 (C26): expected at most 8 hexadecimal digits");
  EXPECT_EQ(reason("0\t" + empty + "1g"), "column 40 (C26): expected at most 8 hexadecimal digits");
}

TEST(ClickRows, BucketsGrowWithTheSquareOfTheLogarithm) {
  EXPECT_EQ(bucket(int64_t{-5}), 1);
  EXPECT_EQ(bucket(int64_t{0}), 2);
  EXPECT_EQ(bucket(int64_t{1}), 3);
  EXPECT_EQ(bucket(int64_t{2}), 4);
  EXPECT_EQ(bucket(int64_t{3}), 5);
  EXPECT_EQ(bucket(int64_t{1000}), 4 + 47);
  EXPECT_EQ(bucket(1e300), kLargestBucket);
  uint16_t last = 0;
  for (int64_t x = -1; x < 100000; ++x) {
    ASSERT_EQ(bucket(x), bucket(static_cast<double>(x)));
    ASSERT_GE(bucket(x), last);
    ASSERT_LE(bucket(x), last + 1);  // none is left out
    last = bucket(x);
  }
}

TEST(ClickSchema, NamesRolesByHeaderOrNumber) {
  const SchemaFile file = parse_schema(
      "# what a shop logs\nseparator = \";\"\nlabel = click\nnumeric = price, "
      "\"a,b\"\ncategorical=shop\nignore=*\n",
      "s");
  const Schema schema = resolve(file, "id;click;\"a,b\";shop;price\r", "log.csv");
  ASSERT_EQ(schema.columns.size(), 5U);
  EXPECT_EQ(schema.columns[0].role, Role::kIgnored);
  EXPECT_EQ(schema.columns[1].role, Role::kLabel);
  EXPECT_EQ(schema.fields()[0].name, "a,b");
  EXPECT_EQ(schema.fields()[1].role, Role::kCategorical);
  EXPECT_EQ(schema.separator, ';');
  const Schema numbered =
      resolve(parse_schema("header = false\nseparator = tab\nlabel = 1\nnumeric = 2-4\ncategorical = 5", "s"),
              "", "d");
  EXPECT_EQ(numbered.count(Role::kNumeric), 3U);
  EXPECT_EQ(numbered.separator, '\t');
}

TEST(ClickSchema, ErrorsNameFileAndLine) {
  const auto error = [](const std::string& text, const std::string& header = "a,b,c") {
    return message_of([&] { resolve(parse_schema(text, "my.schema"), header, "log.csv"); });
  };
  EXPECT_EQ(
      error("label = a\ncatgorical = b, c"),
      "my.schema:2: unknown key \"catgorical\" (did you mean categorical?); known: separator, header, label, "
      "numeric, categorical, ignore");
  EXPECT_NE(error("label = a\ncategorical = b, cc").find("my.schema:2: no column \"cc\""), std::string::npos);
  EXPECT_NE(error("label = a\ncategorical = b").find("says nothing about column 3 (\"c\")"),
            std::string::npos);
  EXPECT_NE(error("label = a\nnumeric = a, b\nignore = c").find("my.schema:2: column \"a\" is named twice"),
            std::string::npos);
  EXPECT_NE(error("numeric = a, b, c").find("label = COLUMN"), std::string::npos);
  EXPECT_NE(error("label = a\nlabel = b").find("my.schema:2"), std::string::npos);
  EXPECT_NE(error("label = a\nignore = b, c").find("no numeric or categorical"), std::string::npos);
  EXPECT_NE(error("label = a, b\nnumeric = c").find("expected one column"), std::string::npos);
  EXPECT_NE(error("separator = ab").find("my.schema:1: separator"), std::string::npos);
  EXPECT_NE(error("header = maybe").find("my.schema:1: header"), std::string::npos);
  EXPECT_NE(error("label").find("my.schema:1: expected key = value"), std::string::npos);
  for (const char* numbers : {"0", "x", "3-2", "2-99999", "2-"}) {
    EXPECT_NE(error(std::string("header = false\nlabel = 1\nnumeric = ") + numbers).find("my.schema:3"),
              std::string::npos)
        << numbers;
  }
}

}  // namespace
}  // namespace hewn::data
