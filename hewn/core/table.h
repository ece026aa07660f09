#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn {

/// A named part by its name and help alone.
struct NameRow {
  std::string_view name;
  std::string_view help;
};

/// The row of that name in a table of named parts. Throws Error with the known names for another one; `what`
/// says what was looked for.
template <class Row>
const Row& find_row(const std::vector<Row>& rows, const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  throw Error(
      str(what, ": unknown name \"", name, "\"", did_you_mean(name, names), "; known: ", join(names)));
}

}  // namespace hewn
