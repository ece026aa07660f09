#include "hewn/convex/dataset.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "hewn/convex/responses.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"

namespace hewn::convex {
namespace {

/// A column by its name or its number.
std::size_t find_column(const std::vector<std::string>& names, const std::string& wanted,
                        const std::string& option, const std::string& path) {
  const auto at = std::find(names.begin(), names.end(), wanted);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  double number = 0;
  const auto count = static_cast<double>(names.size());
  if (io::parse_number(wanted, number) && number == std::floor(number)) {
    if (number < 0) number += count;
    if (number >= 0 && number < count) return static_cast<std::size_t>(number);
    throw Error(str(option, ": ", path, " has columns 0 to ", names.size() - 1, ", got ", wanted));
  }
  throw Error(str(option, ": ", path, " has no column \"", wanted, "\"", did_you_mean(wanted, names)));
}

std::vector<std::size_t> find_columns(const std::vector<std::string>& names,
                                      const std::vector<std::string>& wanted, const std::string& option,
                                      const std::string& path) {
  std::vector<std::size_t> out;
  for (const std::string& one : wanted) {
    out.push_back(find_column(names, one, option, path));
    if (std::count(out.begin(), out.end(), out.back()) > 1) {
      throw Error(str(option, ": column \"", names[out.back()], "\" is named twice"));
    }
  }
  return out;
}

/// Replaces NaN by the mean of the column's other values.
void impute(double* column, int64_t rows, const std::string& name, const std::string& path) {
  double sum = 0;
  int64_t seen = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (std::isnan(column[i])) continue;
    sum += column[i];
    ++seen;
  }
  if (seen == 0) throw FormatError(path, str("column \"", name, "\" has no values at all"));
  for (int64_t i = 0; i < rows; ++i) {
    if (std::isnan(column[i])) column[i] = sum / static_cast<double>(seen);
  }
}

/// What the columns of a table are for. Features are those that are named for nothing else.
struct Columns {
  std::vector<std::size_t> targets;
  std::vector<std::size_t> categories;
  std::optional<std::size_t> weights;
  std::optional<std::size_t> offset;
  std::vector<std::size_t> ignored;

  Columns(const std::vector<std::string>& names, const DatasetOptions& options, const std::string& path)
      : targets(find_columns(names, options.targets, "target", path)),
        categories(find_columns(names, options.categories, "categories", path)),
        ignored(find_columns(names, options.ignore, "ignore", path)) {
    if (targets.empty()) targets.push_back(names.size() - 1);
    if (!options.weights.empty()) weights = find_column(names, options.weights, "weights", path);
    if (!options.offset.empty()) offset = find_column(names, options.offset, "offset", path);
    std::vector<std::size_t> used = targets;
    used.insert(used.end(), categories.begin(), categories.end());
    if (weights) used.push_back(*weights);
    if (offset) used.push_back(*offset);
    std::sort(used.begin(), used.end());
    const auto twice = std::adjacent_find(used.begin(), used.end());
    if (twice != used.end()) {
      throw Error(str(path, ": column \"", names[*twice],
                      "\" is named for two of target, categories, weights and offset"));
    }
  }

  /// Those that are not read as numbers at once.
  std::vector<bool> as_text(std::size_t count) const {
    std::vector<bool> out(count, false);
    for (const auto* list : {&targets, &categories, &ignored}) {
      for (const std::size_t c : *list) out[c] = true;
    }
    if (weights) out[*weights] = true;
    if (offset) out[*offset] = true;
    return out;
  }
};

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
            "; give --impute mean to put the column's mean there"));
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
    out.features.push_back(name + "=" + level);
    out.sources.push_back(name);
  }
}

Dataset read_csv_dataset(const std::string& path, const DatasetOptions& options) {
  std::optional<Columns> columns;
  io::Table table =
      io::read_csv(path, {options.header, options.separator, [&](const std::vector<std::string>& names) {
                            columns.emplace(names, options, path);
                            return columns->as_text(names.size());
                          }});
  if (table.numeric.empty() && columns->categories.empty()) {
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
  if (!columns->categories.empty()) out.sources = out.features;
  for (const std::size_t c : columns->categories)
    add_category(out, table.values, text(c), table.names[c], path);
  if (columns->weights) {
    out.problem.sample_weight = numbers_of(text(*columns->weights), options.weights, "weight", path);
  }
  std::vector<std::vector<std::string>> responses;
  std::vector<std::string> names;
  for (const std::size_t c : columns->targets) {
    responses.push_back(std::move(text(c)));
    names.push_back(table.names[c]);
  }
  set_responses(out, std::move(responses), names, path);
  if (columns->offset) {
    if (out.problem.y.cols() != 1) {
      throw Error(str("offset: needs a task with one output, got ", out.problem.y.cols(), " of ", out.task));
    }
    out.problem.offset = numbers_of(text(*columns->offset), options.offset, "offset", path);
  }
  out.problem.x = dense_design(std::move(table.values), table.rows);
  return out;
}

/// From features and, where it has a name, responses; otherwise they are columns of x.
Dataset array_dataset(io::NpyMatrix x, const std::string& x_path, io::NpyMatrix y, const std::string& y_path,
                      const DatasetOptions& options) {
  if (!options.weights.empty() || !options.ignore.empty() || !options.offset.empty() ||
      !options.categories.empty()) {
    throw Error("weights, offset, categories and ignore: name columns of a CSV file, not of an array");
  }
  if (!y_path.empty() && !options.targets.empty()) {
    throw Error(str("target: ", y_path, " holds the responses, got ", join(options.targets), " too"));
  }
  if (x.rows < 1 || x.cols < 1) throw FormatError(x_path, "is empty");
  std::vector<std::string> all;
  for (int64_t c = 0; c < x.cols; ++c) all.push_back(str(c));
  std::vector<std::string> names;
  Dataset out;
  out.task = options.task;
  const auto rows = static_cast<std::size_t>(x.rows);
  if (!y_path.empty()) {
    if (y.rows != x.rows) {
      throw FormatError(y_path, str("has ", y.rows, " rows, expected ", x.rows, " as in ", x_path));
    }
    for (int64_t c = 0; c < y.cols; ++c) names.push_back(str("y", c));
  } else {
    std::vector<std::size_t> targets = find_columns(all, options.targets, "target", x_path);
    if (targets.empty()) targets.push_back(all.size() - 1);
    y.rows = x.rows;
    for (const std::size_t t : targets) {
      y.values.insert(y.values.end(), x.values.begin() + to_index(t * rows),
                      x.values.begin() + to_index((t + 1) * rows));
      names.push_back(all[t]);
    }
    std::sort(targets.rbegin(), targets.rend());
    for (const std::size_t t : targets) {
      x.values.erase(x.values.begin() + to_index(t * rows), x.values.begin() + to_index((t + 1) * rows));
      all.erase(all.begin() + to_index(t));
    }
    if (all.empty()) throw FormatError(x_path, "has no columns left for features");
  }
  out.features = all;
  for (std::size_t c = 0; c < all.size(); ++c) {
    double* column = x.values.data() + c * rows;
    const double* bad = std::find_if(column, column + rows, [](double v) { return !std::isfinite(v); });
    if (bad == column + rows) continue;
    if (std::isnan(*bad) && options.impute_mean) {
      impute(column, x.rows, all[c], x_path);
      continue;
    }
    throw FormatError(x_path,
                      str("row ", bad - column, ", column ", all[c], " (from 0): is not a finite number",
                          std::isnan(*bad) ? "; give --impute mean to put the column's mean there" : ""));
  }
  std::vector<std::vector<std::string>> columns;
  if (options.task == "binomial" || options.task == "multinomial") {
    if (names.size() != 1) throw Error(str(options.task, ": expected one target column, got ", names.size()));
    columns.emplace_back();
    for (std::size_t i = 0; i < rows; ++i) {
      columns[0].push_back(std::isnan(y.values[i]) ? "" : label_of(y.values[i]));
    }
    set_responses(out, std::move(columns), names, y_path.empty() ? x_path : y_path);
  } else {
    if (out.task == "auto") out.task = "gaussian";
    out.problem.loss = &find_loss(out.task);
    out.problem.y = Eigen::Map<const Matrix>(y.values.data(), x.rows, to_index(names.size()));
    out.problem.loss->check(out.problem.y);
    out.outputs = names;
  }
  out.problem.x = dense_design(std::move(x.values), x.rows);
  return out;
}

/// The arrays X and y of an archive, or its only one.
Dataset read_npz_dataset(const std::string& path, const DatasetOptions& options) {
  const std::vector<std::string> names = io::npz_arrays(path);
  if (names.size() == 1) return array_dataset(io::read_npz(path, names[0]), path, {}, "", options);
  const auto find = [&](const char* upper, const char* lower) {
    for (const std::string& name : names) {
      if (name == upper || name == lower) return name;
    }
    throw FormatError(path, str("expected arrays X and y, or one alone; it has ", join(names)));
  };
  const std::string x = find("X", "x");
  const std::string y = find("Y", "y");
  return array_dataset(io::read_npz(path, x), path + ", " + x, io::read_npz(path, y), path + ", " + y,
                       options);
}

}  // namespace

Dataset read_dataset(const std::string& source, const DatasetOptions& options) {
  const std::size_t comma = source.find(".npy,");
  Dataset out;
  if (comma != std::string::npos) {
    const std::string x = source.substr(0, comma + 4);
    const std::string y = source.substr(comma + 5);
    out = array_dataset(io::read_npy(x), x, io::read_npy(y), y, options);
  } else if (source.ends_with(".npy")) {
    out = array_dataset(io::read_npy(source), source, {}, "", options);
  } else if (source.ends_with(".npz")) {
    out = read_npz_dataset(source, options);
  } else {
    out = read_csv_dataset(source, options);
  }
  out.problem.groups = Groups::features(out.problem.x->cols(), out.problem.y.cols());
  return out;
}

std::vector<std::string> read_labels(const std::string& path, Index count) {
  const std::string text = read_file(path);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n,", begin), text.size());
    std::string word = text.substr(begin, end - begin);
    while (!word.empty() && (word.back() == '\r' || word.back() == ' ')) word.pop_back();
    if (!word.empty()) out.push_back(std::move(word));
    begin = end + 1;
  }
  if (to_index(out.size()) != count) {
    throw FormatError(path,
                      str("has ", out.size(), " group labels, expected ", count, ", one per feature column"));
  }
  return out;
}

}  // namespace hewn::convex
