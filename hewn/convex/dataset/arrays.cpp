#include "hewn/convex/dataset/arrays.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/dataset/columns.h"
#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"

namespace hewn::convex {
namespace {

/// Features and, where it has a path, responses; otherwise they are columns of x.
struct Arrays {
  io::NpyMatrix x;
  std::string x_path;
  io::NpyMatrix y;
  std::string y_path;

  bool has_responses() const { return !y_path.empty(); }
};

void check_arrays(const Arrays& arrays, const DatasetOptions& options) {
  if (!options.weights.empty() || !options.ignore.empty() || !options.offset.empty() ||
      !options.categories.empty() || !options.folds.empty() || !options.event.empty()) {
    throw Error(
        "weights, offset, folds, event, categories and ignore: name columns of a CSV file, not of an array");
  }
  if (arrays.has_responses() && !options.targets.empty()) {
    throw Error(str("target: ", arrays.y_path, " holds the responses, got ", join(options.targets), " too"));
  }
  if (arrays.x.rows < 1 || arrays.x.cols < 1) throw FormatError(arrays.x_path, "is empty");
  if (arrays.has_responses() && arrays.y.rows != arrays.x.rows) {
    throw FormatError(arrays.y_path, str("has ", arrays.y.rows, " rows, expected ", arrays.x.rows, " as in ",
                                         arrays.x_path));
  }
}

/// Moves the targets from x to y, their names from `features` to the result.
std::vector<std::string> take_targets(Arrays& arrays, std::vector<std::string>& features,
                                      const DatasetOptions& options) {
  const auto rows = static_cast<std::size_t>(arrays.x.rows);
  std::vector<double>& x = arrays.x.values;
  std::vector<std::size_t> targets = find_columns(features, options.targets, "target", arrays.x_path);
  if (targets.empty()) targets.push_back(features.size() - 1);
  arrays.y.rows = arrays.x.rows;
  std::vector<std::string> names;
  for (const std::size_t t : targets) {
    arrays.y.values.insert(arrays.y.values.end(), x.begin() + to_index(t * rows),
                           x.begin() + to_index((t + 1) * rows));
    names.push_back(features[t]);
  }
  std::sort(targets.rbegin(), targets.rend());
  for (const std::size_t t : targets) {
    x.erase(x.begin() + to_index(t * rows), x.begin() + to_index((t + 1) * rows));
    features.erase(features.begin() + to_index(t));
  }
  if (features.empty()) throw FormatError(arrays.x_path, "has no columns left for features");
  return names;
}

/// Fills holes of features with the means that it gives, or says where the first value is that is not finite.
std::vector<double> fill_holes(Arrays& arrays, const std::vector<std::string>& features, bool impute_mean) {
  std::vector<double> means;
  const auto rows = static_cast<std::size_t>(arrays.x.rows);
  for (std::size_t c = 0; c < features.size(); ++c) {
    double* column = arrays.x.values.data() + c * rows;
    const double* bad = std::find_if(column, column + rows, [](double v) { return !std::isfinite(v); });
    const bool filled = impute_mean && (bad == column + rows || std::isnan(*bad));
    if (filled) means.push_back(impute(column, arrays.x.rows, features[c], arrays.x_path));
    if (filled || bad == column + rows) {
      check_range(column, arrays.x.rows, features[c], arrays.x_path);
      continue;
    }
    throw FormatError(arrays.x_path,
                      str("row ", bad - column, ", column ", features[c], " (from 0): is not a finite number",
                          std::isnan(*bad) ? "; give impute mean to put the column's mean there" : ""));
  }
  return means;
}

Dataset array_dataset(Arrays arrays, const DatasetOptions& options) {
  check_arrays(arrays, options);
  Dataset out;
  out.task = options.task;
  for (int64_t c = 0; c < arrays.x.cols; ++c) out.features.push_back(str(c));
  std::vector<std::string> names;
  if (arrays.has_responses()) {
    for (int64_t c = 0; c < arrays.y.cols; ++c) names.push_back(str("y", c));
  } else {
    names = take_targets(arrays, out.features, options);
  }
  out.means = fill_holes(arrays, out.features, options.impute_mean);
  set_array_responses(out, arrays.y, names, arrays.has_responses() ? arrays.y_path : arrays.x_path);
  out.problem.x = dense_design(std::move(arrays.x.values), arrays.x.rows);
  return out;
}

}  // namespace

void set_array_responses(Dataset& out, const io::NpyMatrix& array, const std::vector<std::string>& names,
                         const std::string& path) {
  const std::string asked = out.task;
  const std::vector<double>& y = array.values;
  if (out.task == "binomial" || out.task == "multinomial") {
    if (names.size() != 1) throw Error(str(out.task, ": expected one target column, got ", names.size()));
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < static_cast<std::size_t>(array.rows); ++i)
      labels.push_back(std::isnan(y[i]) ? "" : label_of(y[i]));
    set_responses(out, {std::move(labels)}, names, path);
    return;
  }
  if (out.task == "auto") out.task = "gaussian";
  out.targets = names;
  out.outputs = names;
  out.problem.loss = &find_loss(out.task);
  out.problem.y = Eigen::Map<const Matrix>(y.data(), array.rows, to_index(names.size()));
  if (out.task == "cox") {
    if (names.size() != 2)
      throw Error(str("cox: expected two target columns, time and event, got ", names.size()));
    const Vector events = out.problem.y.col(1);
    out.problem.y.conservativeResize(Eigen::NoChange, 1);
    mark_events(out, events, path);
    out.outputs.pop_back();
  }
  out.problem.loss->check(out.problem.y);
  for (Index k = 0; k < out.problem.y.cols(); ++k) {
    check_range(out.problem.y.col(k).data(), out.problem.y.rows(), names[to_size(k)], path);
  }
  note_two_values(out, asked);
}

Dataset read_npy_dataset(const std::string& path, const DatasetOptions& options) {
  return array_dataset({io::read_npy(path), path, {}, ""}, options);
}

Dataset read_npy_dataset(const std::string& x, const std::string& y, const DatasetOptions& options) {
  return array_dataset({io::read_npy(x), x, io::read_npy(y), y}, options);
}

Dataset read_npz_dataset(const std::string& path, const DatasetOptions& options) {
  const std::vector<std::string> names = io::npz_arrays(path);
  if (names.size() == 1) return array_dataset({io::read_npz(path, names[0]), path, {}, ""}, options);
  const auto find = [&](const char* upper, const char* lower) {
    for (const std::string& name : names) {
      if (name == upper || name == lower) return name;
    }
    throw FormatError(path, str("expected arrays X and y, or one alone; it has ", join(names)));
  };
  const std::string x = find("X", "x");
  const std::string y = find("Y", "y");
  return array_dataset({io::read_npz(path, x), path + ", " + x, io::read_npz(path, y), path + ", " + y},
                       options);
}

}  // namespace hewn::convex
