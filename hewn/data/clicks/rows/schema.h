#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::data {

constexpr int64_t kMostColumns = 4096;

enum class Role : uint8_t { kIgnored, kLabel, kNumeric, kCategorical };

struct Column {
  std::string name;
  Role role = Role::kIgnored;
};

/// What the columns of a click log mean. Fields, the inputs of a model, are the numeric and categorical
/// columns in the order of the file.
struct Schema {
  std::vector<Column> columns;
  char separator = '\t';
  bool header = false;  // the first line of every file names the columns
  bool quotes = false;  // values may stand in double quotes
  bool hex = false;     // categorical values are hexadecimal numbers of at most 8 digits

  size_t count(Role role) const;
  /// Columns that are fields.
  std::vector<Column> fields() const;
  Json to_json() const;
};

/// The schema that to_json wrote, from a file that may be hostile; there may be no label. Throws Error.
Schema schema_from_json(const Json& json);

/// Label, 13 integers I1 to I13, 26 hexadecimal categories C1 to C26; tabs, no header.
Schema criteo_schema();

/// What a schema file says (docs/data.md). Column names are compared with a file's header by `resolve`;
/// errors name the file and the line.
struct SchemaFile {
  struct Entry {
    std::string text;  // a name, or a number or range of numbers where there is no header
    Role role;
    int64_t line;
  };
  std::string path;
  char separator = ',';
  bool header = true;
  bool ignore_others = false;
  std::vector<Entry> entries;
};
SchemaFile parse_schema(std::string_view text, const std::string& path);

/// The schema of a click log whose first line is `header` (not looked at where the schema says that there is
/// none). `data` is named in errors.
Schema resolve(const SchemaFile& file, std::string_view header, const std::string& data);

/// Splits a line at its separators; quotes are removed where `quotes` says that values may have them.
std::vector<std::string> split_line(std::string_view line, char separator, bool quotes);

}  // namespace hewn::data
