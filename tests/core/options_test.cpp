#include "hewn/core/options.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn {
namespace {

struct Fields {
  bool flag = false;
  int64_t count = 3;
  double rate = 0.1;
  std::string name = "x";
  std::vector<int64_t> widths = {1, 2};
  std::optional<double> factor;
};

OptionTable describe(Fields& f) {
  OptionTable table;
  table.add("flag", f.flag, "");
  table.add("count", f.count, "");
  table.add("rate", f.rate, "");
  table.add("name", f.name, "");
  table.add("widths", f.widths, "");
  table.add("factor", f.factor, "");
  return table;
}

TEST(Options, RoundTripThroughJson) {
  Fields a{true, 7, 0.1 + 0.2, "y,z", {5}, 1e-3};
  Fields b;
  describe(b).from_json(describe(a).to_json(), "test");
  EXPECT_EQ(describe(a).to_json(), describe(b).to_json());
  EXPECT_EQ(b.rate, 0.1 + 0.2);
  a.factor.reset();
  describe(b).from_json(describe(a).to_json(), "test");
  EXPECT_FALSE(b.factor.has_value());
}

TEST(Options, RejectsWhatDoesNotFit) {
  Fields f;
  const OptionTable table = describe(f);
  for (const auto& [key, text] : std::vector<std::pair<std::string, std::string>>{{"flag", "maybe"},
                                                                                  {"count", "3.5"},
                                                                                  {"rate", "fast"},
                                                                                  {"rate", "1x"},
                                                                                  {"widths", "1,,2"},
                                                                                  {"count", ""}}) {
    EXPECT_THROW(table.find(key, "test").parse(text), Error) << key << "=" << text;
  }
}

TEST(Options, NamesTheNearestKey) {
  Fields f;
  try {
    describe(f).find("widhts", "file.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "file.toml: unknown key \"widhts\" (did you mean widths?)");
  }
}

TEST(Options, RangesAreChecked) {
  Fields f;
  OptionTable table;
  table.add("count", f.count, "").between(1, 4);
  table.add("rate", f.rate, "").share();
  table.add("name", f.name, "").one_of({"x", "y", "z"});
  table.add("factor", f.factor, "").above(0);
  EXPECT_NO_THROW(table.check());
  const auto problem = [&](const std::string& key, const std::string& text) -> std::string {
    const Json before = table.to_json();
    table.find(key, "test").parse(text);
    std::string what;
    try {
      table.check();
    } catch (const Error& error) {
      what = error.what();
    }
    table.from_json(before, "test");
    return what;
  };
  EXPECT_EQ(problem("count", "5"), "count: expected 1 to 4, got 5");
  EXPECT_EQ(problem("rate", "1"), "rate: expected a number in [0, 1), got 1");
  EXPECT_EQ(problem("name", "w"), "name: expected x, y or z, got \"w\"");
  EXPECT_EQ(problem("factor", "0"), "factor: expected a number above 0, got 0");
  EXPECT_EQ(problem("factor", "auto"), "");
}

TEST(Options, PickedRowsKeepTheirOrderAndTheirFields) {
  Fields f;
  OptionTable picked = describe(f).pick({"rate", "count"});
  EXPECT_EQ(picked.keys(), (std::vector<std::string>{"rate", "count"}));
  picked.find("count", "test").parse("9");
  EXPECT_EQ(f.count, 9);
  EXPECT_THROW(picked.find("flag", "test"), Error);
}

TEST(Options, NumbersAreFinite) {
  double value = 7;
  for (const char* text : {"nan", "inf", "-inf", "1e999", "NAN", "infinity"}) {
    EXPECT_THROW(parse_value("lr", text, value), Error) << text;
  }
  EXPECT_EQ(value, 7);
}

}  // namespace
}  // namespace hewn
