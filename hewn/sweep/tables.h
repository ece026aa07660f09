#pragma once

#include <string>
#include <vector>

#include "hewn/sweep/results.h"

namespace hewn::sweep {

/// One line per run.
std::string csv_table(const Spec& spec, const std::vector<Run>& runs, const Results& results);

/// Rows by columns with mean and standard deviation over seeds, the best of each competition in bold, then
/// the comparisons.
std::string markdown_table(const Spec& spec, const std::vector<Run>& runs, const Results& results);

/// Everything.
Json json_results(const Spec& spec, const std::vector<Run>& runs, const Results& results);

/// Writes results.csv, table.md and results.json into the sweep's folder.
void write_tables(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                  const Folder& folder);

/// The same, but leaves files alone that say it already.
void complete_tables(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                     const Folder& folder);

}  // namespace hewn::sweep
