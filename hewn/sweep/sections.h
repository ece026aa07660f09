#pragma once

#include <string>
#include <vector>

#include "hewn/sweep/line.h"

namespace hewn::sweep {

/// What stands behind `key =`: one text, or a list of them. A list inside a list is one text with commas.
struct Value {
  std::vector<std::string> items;
  bool list = false;
  Line line;

  /// The whole value as one text.
  std::string text() const;
};

struct Entry {
  std::string key;
  Value value;
};

/// `[name]`, `[name.label]` or `[[name]]` with the entries below it; of one size where that is preceded by
/// `size.NAME.`. The name of `[size.NAME]` itself is "".
struct Section {
  std::string size;
  std::string name;
  std::string label;
  bool repeated = false;  // [[name]]
  Line line;
  std::vector<Entry> entries;
};

/// Whether entries may stand before the first section; they are then in one without a name.
enum class Top { kSections, kEntries };

/// Reads the part of TOML that sweeps and config files use: sections, texts in quotes, numbers, true, false
/// and lists of these over any number of lines. Throws FormatError with path and line.
std::vector<Section> read_sections(const std::string& text, const std::string& path,
                                   Top top = Top::kSections);

/// A text that read_sections reads as these sections. Sizes are left out.
std::string to_text(const std::vector<Section>& sections);

}  // namespace hewn::sweep
