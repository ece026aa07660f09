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

std::vector<bool> ColumnRoles::as_text(std::size_t count) const {
  std::vector<bool> out(count, false);
  for (const auto* list : {&targets, &categories, &ignored}) {
    for (const std::size_t c : *list) out[c] = true;
  }
  if (weights) out[*weights] = true;
  if (offset) out[*offset] = true;
  return out;
}

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

}  // namespace hewn::convex
