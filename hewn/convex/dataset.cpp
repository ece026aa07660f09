#include "hewn/convex/dataset.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/io/npy.h"

namespace hewn::convex {
namespace {

constexpr std::size_t kMostClasses = 1000;

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

std::string label_of(double value) { return str(value); }

/// Numbers sort as numbers, other labels as text.
std::vector<std::string> classes_of(const std::vector<std::string>& labels) {
  const std::set<std::string> distinct(labels.begin(), labels.end());
  std::vector<std::string> out(distinct.begin(), distinct.end());
  double unused = 0;
  if (std::all_of(out.begin(), out.end(),
                  [&](const std::string& s) { return io::parse_number(s, unused); })) {
    std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
      double x = 0;
      double y = 0;
      io::parse_number(a, x);
      io::parse_number(b, y);
      return x < y;
    });
  }
  return out;
}

/// Fills in task, responses and names of outputs from one column of labels or several of numbers.
void set_responses(Dataset& out, const std::vector<std::vector<std::string>>& columns,
                   const std::vector<std::string>& names, const std::string& path) {
  const Index n = to_index(columns.front().size());
  double number = 0;
  bool numbers = true;
  for (const auto& column : columns) {
    for (const std::string& text : column) numbers = numbers && io::parse_number(text, number);
  }
  if (out.task == "auto") {
    out.task = numbers ? "gaussian" : classes_of(columns.front()).size() == 2 ? "binomial" : "multinomial";
  }
  out.problem.loss = &find_loss(out.task);
  const bool classes = out.task == "binomial" || out.task == "multinomial";
  if (classes && columns.size() != 1)
    throw Error(str(out.task, ": expected one target column, got ", columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < columns[c].size(); ++i) {
      const std::string& text = columns[c][i];
      if (io::is_missing(text)) {
        throw FormatError(path, str("row ", i + 1, ", column \"", names[c], "\": the response is missing"));
      }
      if (!classes && !io::parse_number(text, number)) {
        throw FormatError(path, str("row ", i + 1, ", column \"", names[c], "\": expected a number for ",
                                    out.task, ", got \"", text, "\""));
      }
    }
  }
  if (!classes) {
    out.problem.y.resize(n, to_index(columns.size()));
    for (Index k = 0; k < out.problem.y.cols(); ++k) {
      for (Index i = 0; i < n; ++i) io::parse_number(columns[to_size(k)][to_size(i)], out.problem.y(i, k));
    }
    out.outputs = names;
    return;
  }
  const std::vector<std::string> labels = classes_of(columns.front());
  if (out.task == "binomial" && labels.size() != 2) {
    throw Error(str("binomial: ", path, ", column \"", names[0], "\" has ", labels.size(),
                    " distinct values, expected 2"));
  }
  if (labels.size() < 2 || labels.size() > kMostClasses) {
    throw Error(str("multinomial: ", path, ", column \"", names[0], "\" has ", labels.size(),
                    " distinct values, expected 2 to ", kMostClasses, "; for numbers give --task gaussian"));
  }
  std::map<std::string, Index> number_of;
  for (std::size_t k = 0; k < labels.size(); ++k) number_of[labels[k]] = to_index(k);
  const bool two = out.task == "binomial";
  out.problem.y = Matrix::Zero(n, two ? 1 : to_index(labels.size()));
  for (Index i = 0; i < n; ++i) {
    const Index k = number_of[columns[0][to_size(i)]];
    if (two) {
      out.problem.y(i, 0) = static_cast<double>(k);
    } else {
      out.problem.y(i, k) = 1;
    }
  }
  out.outputs = two ? std::vector<std::string>{labels[1]} : labels;
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

Dataset read_csv_dataset(const std::string& path, const DatasetOptions& options) {
  std::vector<bool> is_text;
  std::vector<std::size_t> targets;
  std::vector<std::size_t> ignored;
  io::CsvOptions csv{options.header, options.separator, [&](const std::vector<std::string>& names) {
                       is_text.assign(names.size(), false);
                       for (const std::string& t : options.targets) {
                         targets.push_back(find_column(names, t, "target", path));
                       }
                       if (targets.empty()) targets.push_back(names.size() - 1);
                       for (const std::string& t : options.ignore) {
                         ignored.push_back(find_column(names, t, "ignore", path));
                       }
                       if (!options.weights.empty()) {
                         ignored.push_back(find_column(names, options.weights, "weights", path));
                       }
                       for (const std::size_t c : targets) is_text[c] = true;
                       for (const std::size_t c : ignored) is_text[c] = true;
                       return is_text;
                     }};
  io::Table table = io::read_csv(path, csv);
  if (table.numeric.empty()) throw FormatError(path, "has no columns left for features");
  if (!table.missing.empty()) {
    const io::Missing& first = table.missing.front();
    const std::string& name = table.names[static_cast<std::size_t>(first.column)];
    if (!options.impute_mean) {
      throw FormatError(
          path, str("line ", table.line_of(first.row), ", column \"", name, "\": the value is missing",
                    table.missing.size() > 1 ? str(" (and ", table.missing.size() - 1, " more)") : "",
                    "; give --impute mean to put the column's mean there"));
    }
    for (std::size_t c = 0; c < table.numeric.size(); ++c) {
      impute(table.values.data() + c * static_cast<std::size_t>(table.rows), table.rows,
             table.names[static_cast<std::size_t>(table.numeric[c])], path);
    }
  }
  Dataset out;
  out.task = options.task;
  for (const int64_t c : table.numeric) out.features.push_back(table.names[static_cast<std::size_t>(c)]);
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> names;
  const auto text = [&](std::size_t column) -> std::vector<std::string>& {
    const auto at =
        std::find(table.text_columns.begin(), table.text_columns.end(), static_cast<int64_t>(column));
    return table.text[static_cast<std::size_t>(at - table.text_columns.begin())];
  };
  if (!options.weights.empty()) {
    const std::vector<std::string>& own = text(ignored.back());
    out.problem.sample_weight.resize(table.rows);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!io::parse_number(own[i], out.problem.sample_weight[to_index(i)])) {
        throw FormatError(path, str("row ", i + 1, ", column \"", options.weights,
                                    "\": expected a weight, got \"", own[i], "\""));
      }
    }
  }
  for (const std::size_t c : targets) {
    columns.push_back(std::move(text(c)));
    names.push_back(table.names[c]);
  }
  set_responses(out, columns, names, path);
  out.problem.x = dense_design(std::move(table.values), table.rows);
  return out;
}

Dataset read_npy_dataset(const std::string& x_path, const std::string& y_path,
                         const DatasetOptions& options) {
  if (!options.weights.empty() || !options.ignore.empty()) {
    throw Error("weights and ignore: name columns of a CSV file, not of an NPY file");
  }
  io::NpyMatrix x = io::read_npy(x_path);
  if (x.rows < 1 || x.cols < 1) throw FormatError(x_path, "is empty");
  std::vector<std::string> all;
  for (int64_t c = 0; c < x.cols; ++c) all.push_back(str(c));
  io::NpyMatrix y;
  std::vector<std::string> names;
  Dataset out;
  out.task = options.task;
  const auto rows = static_cast<std::size_t>(x.rows);
  if (!y_path.empty()) {
    y = io::read_npy(y_path);
    if (y.rows != x.rows) {
      throw FormatError(y_path, str("has ", y.rows, " rows, expected ", x.rows, " as in ", x_path));
    }
    for (int64_t c = 0; c < y.cols; ++c) names.push_back(str("y", c));
  } else {
    std::vector<std::size_t> targets;
    for (const std::string& t : options.targets) targets.push_back(find_column(all, t, "target", x_path));
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
                      str("row ", bad - column, ", column ", all[c], ": is not a finite number",
                          std::isnan(*bad) ? "; give --impute mean to put the column's mean there" : ""));
  }
  std::vector<std::vector<std::string>> columns;
  if (options.task == "binomial" || options.task == "multinomial") {
    if (names.size() != 1) throw Error(str(options.task, ": expected one target column, got ", names.size()));
    columns.emplace_back();
    for (std::size_t i = 0; i < rows; ++i) {
      columns[0].push_back(std::isnan(y.values[i]) ? "" : label_of(y.values[i]));
    }
    set_responses(out, columns, names, y_path.empty() ? x_path : y_path);
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

}  // namespace

Dataset read_dataset(const std::string& source, const DatasetOptions& options) {
  const std::size_t comma = source.find(".npy,");
  Dataset out;
  if (comma != std::string::npos) {
    out = read_npy_dataset(source.substr(0, comma + 4), source.substr(comma + 5), options);
  } else if (source.ends_with(".npy")) {
    out = read_npy_dataset(source, "", options);
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
