#include "hewn/convex/dataset/csv.h"

#include <algorithm>
#include <optional>

#include "hewn/convex/dataset/columns.h"
#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

Vector numbers_of(const std::vector<std::string>& column, const std::string& name, const std::string& what,
                  const std::string& path) {
  Vector out(to_index(column.size()));
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (io::parse_number(column[i], out[to_index(i)])) continue;
    throw FormatError(path, str("row ", i + 1, ", column \"", name, "\": expected a number as ", what,
                                ", got \"", column[i], "\""));
  }
  return out;
}

/// Fills holes of numeric columns, or says where the first one is.
void fill_missing(io::Table& table, bool impute_mean, const std::string& path) {
  if (!table.first_missing) return;
  if (!impute_mean) {
    const io::Missing& first = *table.first_missing;
    throw FormatError(
        path,
        str("line ", first.line, ", column \"", table.names[static_cast<std::size_t>(first.column)],
            "\": the value is missing", table.missing > 1 ? str(" (and ", table.missing - 1, " more)") : "",
            "; give impute mean to put the column's mean there"));
  }
  for (std::size_t c = 0; c < table.numeric.size(); ++c) {
    impute(table.values.data() + c * static_cast<std::size_t>(table.rows), table.rows,
           table.names[static_cast<std::size_t>(table.numeric[c])], path);
  }
}

/// A column of 0 and 1 for every value of a text column, behind the others; they are one group.
void add_category(Dataset& out, std::vector<double>& values, const std::vector<std::string>& column,
                  const std::string& name, const std::string& path) {
  const auto missing = std::find_if(column.begin(), column.end(), io::is_missing);
  if (missing != column.end()) {
    throw FormatError(
        path, str("row ", missing - column.begin() + 1, ", column \"", name, "\": the value is missing"));
  }
  const std::vector<std::string> levels = distinct_labels(column);
  if (levels.size() > kMostClasses) {
    throw FormatError(path, str("column \"", name, "\" has ", levels.size(),
                                " distinct values, expected at most ", kMostClasses, " for categories"));
  }
  const std::size_t first = values.size();
  values.resize(first + levels.size() * column.size(), 0.0);
  for (std::size_t i = 0; i < column.size(); ++i) {
    const auto level =
        static_cast<std::size_t>(std::find(levels.begin(), levels.end(), column[i]) - levels.begin());
    values[first + level * column.size() + i] = 1;
  }
  for (const std::string& level : levels) {
    out.features.push_back(str(name, "=", level));
    out.sources.push_back(name);
  }
}

}  // namespace

Dataset read_csv_dataset(const std::string& path, const DatasetOptions& options) {
  std::optional<ColumnRoles> roles;
  io::Table table =
      io::read_csv(path, {options.header, options.separator, [&](const std::vector<std::string>& names) {
                            roles.emplace(names, options, path);
                            return roles->as_text(names.size());
                          }});
  if (table.numeric.empty() && roles->categories.empty()) {
    throw FormatError(path, "has no columns left for features");
  }
  fill_missing(table, options.impute_mean, path);
  Dataset out;
  out.task = options.task;
  for (const int64_t c : table.numeric) out.features.push_back(table.names[static_cast<std::size_t>(c)]);
  const auto text = [&](std::size_t column) -> std::vector<std::string>& {
    const auto at =
        std::find(table.text_columns.begin(), table.text_columns.end(), static_cast<int64_t>(column));
    return table.text[static_cast<std::size_t>(at - table.text_columns.begin())];
  };
  if (!roles->categories.empty()) out.sources = out.features;
  for (const std::size_t c : roles->categories)
    add_category(out, table.values, text(c), table.names[c], path);
  if (roles->weights) {
    out.problem.sample_weight = numbers_of(text(*roles->weights), options.weights, "weight", path);
  }
  std::vector<std::vector<std::string>> responses;
  std::vector<std::string> names;
  for (const std::size_t c : roles->targets) {
    responses.push_back(std::move(text(c)));
    names.push_back(table.names[c]);
  }
  set_responses(out, std::move(responses), names, path);
  if (roles->offset) {
    if (out.problem.y.cols() != 1) {
      throw Error(str("offset: needs a task with one output, got ", out.problem.y.cols(), " of ", out.task));
    }
    out.problem.offset = numbers_of(text(*roles->offset), options.offset, "offset", path);
  }
  out.problem.x = dense_design(std::move(table.values), table.rows);
  return out;
}

}  // namespace hewn::convex
