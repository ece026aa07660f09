#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hewn::sweep {

/// What stands behind `key =`: one text, or a list of them. A list inside a list is one text with commas.
struct Value {
  std::vector<std::string> items;
  bool list = false;
  int64_t line = 0;

  /// The whole value as one text.
  std::string text() const;
};

struct Entry {
  std::string key;
  Value value;
};

/// `[name]`, `[name.label]` or `[[name]]` with the entries below it.
struct Section {
  std::string name;
  std::string label;
  bool repeated = false;  // [[name]]
  int64_t line = 0;
  std::vector<Entry> entries;
};

/// Reads the part of TOML that sweep files use: sections, texts in quotes, numbers, true, false and lists of
/// these over any number of lines. CLI11's reader, which serves other config files, does not know lines.
/// Throws FormatError with path and line.
std::vector<Section> read_sections(const std::string& text, const std::string& path);

/// FormatError for a line of a file.
[[noreturn]] void reject_line(const std::string& path, int64_t line, const std::string& what);

}  // namespace hewn::sweep
