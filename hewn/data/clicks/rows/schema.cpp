#include "hewn/data/clicks/rows/schema.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

const char* name_of(Role role) {
  switch (role) {
    case Role::kLabel:
      return "label";
    case Role::kNumeric:
      return "numeric";
    case Role::kCategorical:
      return "categorical";
    case Role::kIgnored:
      break;
  }
  return "ignore";
}

}  // namespace

size_t Schema::count(Role role) const {
  return static_cast<size_t>(std::count_if(columns.begin(), columns.end(),
                                           [role](const Column& column) { return column.role == role; }));
}

std::vector<Column> Schema::fields() const {
  std::vector<Column> out;
  for (const Column& column : columns) {
    if (column.role == Role::kNumeric || column.role == Role::kCategorical) out.push_back(column);
  }
  return out;
}

Json Schema::to_json() const {
  Json names = Json::array();
  for (const Column& column : columns)
    names.push_back({{"name", column.name}, {"role", name_of(column.role)}});
  return {{"separator", static_cast<int>(separator)},
          {"header", header},
          {"quotes", quotes},
          {"hex", hex},
          {"columns", names}};
}

Schema criteo_schema() {
  constexpr int kIntegers = 13;
  constexpr int kCategories = 26;
  Schema schema;
  schema.hex = true;
  schema.columns.push_back({"label", Role::kLabel});
  for (int i = 1; i <= kIntegers; ++i) schema.columns.push_back({str("I", i), Role::kNumeric});
  for (int i = 1; i <= kCategories; ++i) schema.columns.push_back({str("C", i), Role::kCategorical});
  return schema;
}

std::vector<std::string> split_line(std::string_view line, char separator, bool quotes) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quotes && c == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled) out.back().push_back(line[++i]);
      if (!doubled) quoted = !quoted;
    } else if (c == separator && !quoted) {
      out.emplace_back();
    } else {
      out.back().push_back(c);
    }
  }
  return out;
}

}  // namespace hewn::data
