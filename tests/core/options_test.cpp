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

}  // namespace
}  // namespace hewn
