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

Role role_named(const Json& name) {
  for (const Role role : {Role::kIgnored, Role::kLabel, Role::kNumeric, Role::kCategorical}) {
    if (name == name_of(role)) return role;
  }
  throw Error("a column has an unknown role");
}

/// One member of an object, of the type that is wanted.
const Json& member(const Json& json, const char* key, Json::value_t type) {
  const auto found = json.find(key);
  if (found == json.end() || found->type() != type) throw Error(str("has no good \"", key, "\""));
  return *found;
}

char separator_of(const Json& json) {
  const auto found = json.find("separator");
  if (found == json.end() || !found->is_number_integer()) throw Error("has no good \"separator\"");
  const auto code = found->get<int64_t>();  // of a char, which may have a sign
  if (code < -128 || code > 255 || code == 0 || code == '"' || code == '\n' || code == '\r')
    throw Error(str("\"separator\" cannot be ", code));
  return static_cast<char>(code);
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

Schema schema_from_json(const Json& json) {
  if (!json.is_object()) throw Error("is not an object");
  Schema out;
  out.separator = separator_of(json);
  out.header = member(json, "header", Json::value_t::boolean).get<bool>();
  out.quotes = member(json, "quotes", Json::value_t::boolean).get<bool>();
  out.hex = member(json, "hex", Json::value_t::boolean).get<bool>();
  const Json& columns = member(json, "columns", Json::value_t::array);
  if (columns.size() > static_cast<size_t>(kMostColumns))
    throw Error(str("has more than ", kMostColumns, " columns"));
  for (const Json& column : columns) {
    if (!column.is_object()) throw Error("a column is not an object");
    out.columns.push_back({member(column, "name", Json::value_t::string).get<std::string>(),
                           role_named(member(column, "role", Json::value_t::string))});
  }
  if (out.count(Role::kLabel) > 1) throw Error("has several labels");
  if (out.fields().empty()) throw Error("has no numeric or categorical column");
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
