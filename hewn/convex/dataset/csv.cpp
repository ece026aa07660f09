#include "hewn/convex/dataset/csv.h"

#include <algorithm>
#include <map>
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
  check_range(out.data(), out.size(), name, path);
  return out;
}

/// Fills holes of numeric columns with the means that it gives, or says where the first one is.
std::vector<double> fill_missing(io::Table& table, bool impute_mean, const std::string& path) {
  if (!impute_mean && !table.first_missing) return {};
  if (!impute_mean) {
    const io::Missing& first = *table.first_missing;
    throw FormatError(
        path,
        str("line ", first.line, ", column \"", table.names[static_cast<std::size_t>(first.column)],
            "\": the value is missing", table.missing > 1 ? str(" (and ", table.missing - 1, " more)") : "",
            "; give impute mean to put the column's mean there"));
  }
  std::vector<double> means;
  for (std::size_t c = 0; c < table.numeric.size(); ++c) {
    means.push_back(impute(table.values.data() + c * static_cast<std::size_t>(table.rows), table.rows,
                           table.names[static_cast<std::size_t>(table.numeric[c])], path));
  }
  return means;
}

/// What samples have of text columns, as numbers of their levels.
struct Categories {
  std::vector<std::vector<int>> codes;
  std::vector<int> levels;
};

/// A feature of 0 and 1 for every value of a text column, behind the others; they are one group.
void add_category(Dataset& out, Categories& categories, const std::vector<std::string>& column,
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
  std::map<std::string, int> number_of;
  for (std::size_t i = 0; i < levels.size(); ++i) number_of[levels[i]] = static_cast<int>(i);
  std::vector<int> codes;
  for (const std::string& text : column) codes.push_back(number_of[text]);
  categories.codes.push_back(std::move(codes));
  categories.levels.push_back(static_cast<int>(levels.size()));
  for (const std::string& level : levels) {
    out.features.push_back(str(name, "=", level));
    out.sources.push_back(name);
    out.levels.push_back(level);
    if (!out.means.empty()) out.means.push_back(0);
  }
}

/// Numbers as they are, categories without their zeros.
std::shared_ptr<const Design> design_of(std::vector<double> values, Index rows, Categories categories) {
  if (categories.codes.empty()) return dense_design(std::move(values), rows);
  auto sparse = one_hot_design(std::move(categories.codes), std::move(categories.levels));
  return values.empty() ? sparse : joined_design(dense_design(std::move(values), rows), std::move(sparse));
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
  std::vector<double> means = fill_missing(table, options.impute_mean, path);
  for (std::size_t c = 0; c < table.numeric.size(); ++c) {
    check_range(table.values.data() + c * static_cast<std::size_t>(table.rows), table.rows,
                table.names[static_cast<std::size_t>(table.numeric[c])], path);
  }
  Dataset out;
  out.task = options.task;
  for (const int64_t c : table.numeric) out.features.push_back(table.names[static_cast<std::size_t>(c)]);
  const auto text = [&](std::size_t column) -> std::vector<std::string>& {
    const auto at =
        std::find(table.text_columns.begin(), table.text_columns.end(), static_cast<int64_t>(column));
    return table.text[static_cast<std::size_t>(at - table.text_columns.begin())];
  };
  out.means = std::move(means);
  if (!roles->categories.empty()) {
    out.sources = out.features;
    out.levels.assign(out.features.size(), "");
  }
  Categories categories;
  for (const std::size_t c : roles->categories) add_category(out, categories, text(c), table.names[c], path);
  if (roles->weights) {
    out.problem.sample_weight = numbers_of(text(*roles->weights), options.weights, "weight", path);
  }
  if (roles->folds) {
    const std::vector<std::string>& labels = text(*roles->folds);
    const std::vector<std::string> distinct = distinct_labels(labels);
    if (distinct.size() < 2)
      throw FormatError(path, str("column \"", options.folds, "\": expected at least 2 folds"));
    for (const std::string& label : labels)
      out.folds.push_back(
          static_cast<int>(std::find(distinct.begin(), distinct.end(), label) - distinct.begin()));
  }
  std::vector<std::vector<std::string>> responses;
  std::vector<std::string> names;
  for (const std::size_t c : roles->targets) {
    responses.push_back(std::move(text(c)));
    names.push_back(table.names[c]);
  }
  set_responses(out, std::move(responses), names, path);
  out.offset = options.offset;
  if ((out.task == "cox") != roles->event.has_value()) {
    throw Error(out.task == "cox" ? "event: task cox needs the column that says which times are events"
                                  : str("event: applies to task cox only, not to ", out.task));
  }
  if (roles->event) {
    if (out.problem.y.cols() != 1)
      throw Error(str("cox: expected one target column, got ", out.problem.y.cols()));
    mark_events(out, numbers_of(text(*roles->event), options.event, "event", path), path);
  }
  if (roles->offset) {
    if (out.problem.y.cols() != 1) {
      throw Error(str("offset: needs a task with one output, got ", out.problem.y.cols(), " of ", out.task));
    }
    out.problem.offset = numbers_of(text(*roles->offset), options.offset, "offset", path);
  }
  out.problem.x = design_of(std::move(table.values), table.rows, std::move(categories));
  return out;
}

}  // namespace hewn::convex
