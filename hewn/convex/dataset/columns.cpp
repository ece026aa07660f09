#include "hewn/convex/dataset/columns.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

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

}  // namespace

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

ColumnRoles::ColumnRoles(const std::vector<std::string>& names, const DatasetOptions& options,
                         const std::string& path)
    : targets(find_columns(names, options.targets, "target", path)),
      categories(find_columns(names, options.categories, "categories", path)),
      ignored(find_columns(names, options.ignore, "ignore", path)) {
  if (targets.empty()) targets.push_back(names.size() - 1);
  if (!options.weights.empty()) weights = find_column(names, options.weights, "weights", path);
  if (!options.offset.empty()) offset = find_column(names, options.offset, "offset", path);
  if (!options.folds.empty()) folds = find_column(names, options.folds, "folds", path);
  if (!options.event.empty()) event = find_column(names, options.event, "event", path);
  std::vector<std::size_t> used = targets;
  used.insert(used.end(), categories.begin(), categories.end());
  if (weights) used.push_back(*weights);
  if (offset) used.push_back(*offset);
  if (folds) used.push_back(*folds);
  if (event) used.push_back(*event);
  std::sort(used.begin(), used.end());
  const auto twice = std::adjacent_find(used.begin(), used.end());
  if (twice != used.end()) {
    throw Error(str(path, ": column \"", names[*twice],
                    "\" is named for two of target, event, categories, weights, offset and folds"));
  }
}

std::vector<bool> ColumnRoles::as_text(std::size_t count) const {
  std::vector<bool> out(count, false);
  for (const auto* list : {&targets, &categories, &ignored}) {
    for (const std::size_t c : *list) out[c] = true;
  }
  if (weights) out[*weights] = true;
  if (offset) out[*offset] = true;
  if (folds) out[*folds] = true;
  if (event) out[*event] = true;
  return out;
}

double impute(double* column, int64_t rows, const std::string& name, const std::string& path) {
  double sum = 0;
  int64_t seen = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (std::isnan(column[i])) continue;
    sum += column[i];
    ++seen;
  }
  if (seen == 0) throw FormatError(path, str("column \"", name, "\" has no values at all"));
  const double mean = sum / static_cast<double>(seen);
  for (int64_t i = 0; i < rows; ++i) {
    if (std::isnan(column[i])) column[i] = mean;
  }
  return mean;
}

void check_range(const double* column, int64_t rows, const std::string& name, const std::string& path) {
  // Squared gradients, fourth powers of this, must be numbers.
  constexpr double kMost = 1e70;
  double largest = 0;
  for (int64_t i = 0; i < rows; ++i) largest = std::max(largest, std::abs(column[i]));
  if (largest == 0 || (largest <= kMost && largest >= 1 / kMost)) return;
  throw FormatError(path, str("column \"", name, "\": its largest value is ", largest, " in size, expected ",
                              1 / kMost, " to ", kMost, "; give it in other units"));
}

}  // namespace hewn::convex
