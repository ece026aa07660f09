#include <algorithm>
#include <cmath>
#include <map>

#include "hewn/convex/dataset/responses.h"
#include "hewn/convex/model.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/npy.h"

namespace hewn::convex {
namespace {

/// Columns of a table by their names, as numbers or as text.
struct NewTable {
  std::string path;
  Index rows = 0;
  std::vector<int64_t> lines;                          // of the file, where it has any
  std::map<std::string, std::vector<double>> numbers;  // NaN where missing
  std::map<std::string, std::vector<std::string>> text;
};

/// Names of the columns that a model looks at; those it compares with levels are text.
std::map<std::string, bool> needed_columns(const LinearModel& model) {
  std::map<std::string, bool> out;
  for (const ModelColumn& column : model.columns) out[column.name] = !column.level.empty();
  if (!model.offset.empty()) out[model.offset] = false;
  return out;
}

void check_present(const std::map<std::string, bool>& needed, const std::vector<std::string>& names,
                   const std::string& path) {
  std::vector<std::string> missing;
  for (const auto& [name, text] : needed) {
    const auto count = std::count(names.begin(), names.end(), name);
    if (count == 0) missing.push_back("\"" + name + "\"");
    if (count > 1) throw FormatError(path, str("has two columns \"", name, "\""));
  }
  if (missing.empty()) return;
  const std::string hint = missing.size() == 1 ? did_you_mean(missing.front(), names) : "";
  throw FormatError(path, str("has no column ", join(missing), ", which the model needs", hint));
}

double number_in(const std::string& text, const NewTable& table, std::size_t row, const std::string& name) {
  double value = 0;
  if (io::parse_number(text, value)) return value;
  if (io::is_missing(text)) return std::nan("");
  throw FormatError(table.path, str("line ", table.lines[row], ", column \"", name,
                                    "\": expected a number, got \"", text, "\""));
}

NewTable read_new_csv(const LinearModel& model, const std::string& path, const DatasetOptions& options) {
  const std::map<std::string, bool> needed = needed_columns(model);
  std::vector<std::string> all;
  io::Table table =
      io::read_csv(path, {options.header, options.separator, [&](const std::vector<std::string>& names) {
                            all = names;
                            check_present(needed, names, path);
                            return std::vector<bool>(names.size(), true);
                          }});
  NewTable out;
  out.path = path;
  out.rows = table.rows;
  out.lines = table.lines;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto wanted = needed.find(all[c]);
    if (wanted == needed.end()) continue;
    if (wanted->second) {
      out.text[all[c]] = std::move(table.text[c]);
      continue;
    }
    std::vector<double>& values = out.numbers[all[c]];
    for (std::size_t i = 0; i < table.text[c].size(); ++i)
      values.push_back(number_in(table.text[c][i], out, i, all[c]));
  }
  return out;
}

NewTable read_new_npy(const LinearModel& model, const std::string& path) {
  const io::NpyMatrix x = io::read_npy(path);
  std::vector<std::string> names;
  for (int64_t c = 0; c < x.cols; ++c) names.push_back(str(c));
  const std::map<std::string, bool> needed = needed_columns(model);
  check_present(needed, names, path);
  NewTable out;
  out.path = path;
  out.rows = x.rows;
  for (int64_t i = 0; i < x.rows; ++i) out.lines.push_back(i + 1);
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!needed.contains(names[c])) continue;
    const auto first = x.values.begin() + static_cast<std::ptrdiff_t>(c) * x.rows;
    out.numbers[names[c]].assign(first, first + x.rows);
  }
  return out;
}

/// What a column is in every row.
Vector values_of_column(const ModelColumn& column, const NewTable& table) {
  Vector out(table.rows);
  if (!column.level.empty()) {
    const std::vector<std::string>& text = table.text.at(column.name);
    for (Index i = 0; i < table.rows; ++i) out[i] = text[to_size(i)] == column.level ? 1 : 0;
    return out;
  }
  const std::vector<double>& numbers = table.numbers.at(column.name);
  for (Index i = 0; i < table.rows; ++i) {
    out[i] = numbers[to_size(i)];
    if (std::isfinite(out[i])) continue;
    if (!std::isnan(out[i]) || !column.may_miss) {
      throw FormatError(table.path, str("line ", table.lines[to_size(i)], ", column \"", column.name,
                                        "\": the value is missing, and the model was fitted without such"));
    }
    out[i] = column.mean;
  }
  return out;
}

/// Throws FormatError where a column of text has a value that the model never met.
void check_levels(const LinearModel& model, const NewTable& table) {
  for (const auto& [name, text] : table.text) {
    const auto known = model.levels.find(name);
    if (known == model.levels.end()) continue;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::find(known->second.begin(), known->second.end(), text[i]) != known->second.end()) continue;
      throw FormatError(table.path,
                        str("line ", table.lines[i], ", column \"", name, "\": \"", text[i],
                            "\" is none of what the model was fitted with: ", join(known->second)));
    }
  }
}

/// Probabilities of both of two classes, and the likeliest class of every row.
void name_classes(const LinearModel& model, LinearPredictions& out) {
  out.names = model.classes;
  if (model.task == "binomial") {
    Matrix both(out.mean.rows(), 2);
    both << (1 - out.mean.array()).matrix(), out.mean;
    out.mean = std::move(both);
  }
  for (Index i = 0; i < out.mean.rows(); ++i) {
    Index best = 0;
    out.mean.row(i).maxCoeff(&best);
    out.classes.push_back(model.classes[to_size(best)]);
  }
}

}  // namespace

LinearPredictions predict(const LinearModel& model, const std::string& source,
                          const DatasetOptions& options) {
  const NewTable table =
      source.ends_with(".npy") ? read_new_npy(model, source) : read_new_csv(model, source, options);
  check_levels(model, table);
  LinearPredictions out;
  out.eta = model.intercept.replicate(table.rows, 1);
  for (const ModelColumn& column : model.columns) out.eta += values_of_column(column, table) * column.slope;
  if (!model.offset.empty()) {
    ModelColumn offset;
    offset.name = model.offset;
    out.eta.colwise() += values_of_column(offset, table);
  }
  out.mean = out.eta;
  find_loss(model.task).predict(out.mean);
  out.names = model.outputs;
  if (!model.classes.empty()) name_classes(model, out);
  return out;
}

}  // namespace hewn::convex
