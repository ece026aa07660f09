#pragma once

#include <string>

namespace hewn {
class OptionTable;
}

namespace hewn::data {

/// How the columns of a table become inputs and targets, in the words of hewn select (docs/data.md).
struct TableOptions {
  std::string target = {};  // column to predict, by name or number; empty: the last
  std::string task = "auto";
  std::string categories = {};  // columns of text that become 0/1 features, with commas between
  std::string ignore = {};      // columns to leave out, likewise
  std::string header = "auto";
  std::string separator = ",";
  std::string impute = "none";
  bool standardise = true;
  std::string test_file = {};  // a table of its own for the test, instead of a share of the rows
};

/// Adds one option per field, for the command line and config files.
void describe(TableOptions& options, OptionTable& table);

}  // namespace hewn::data
