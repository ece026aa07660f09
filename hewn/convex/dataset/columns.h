#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hewn/convex/dataset.h"

namespace hewn::convex {

/// Columns by their names or numbers, none twice. Throws Error naming the option.
std::vector<std::size_t> find_columns(const std::vector<std::string>& names,
                                      const std::vector<std::string>& wanted, const std::string& option,
                                      const std::string& path);

/// What the columns of a table are for. Features are those that are named for nothing else.
struct ColumnRoles {
  std::vector<std::size_t> targets;
  std::vector<std::size_t> categories;
  std::optional<std::size_t> weights;
  std::optional<std::size_t> offset;
  std::optional<std::size_t> folds;
  std::optional<std::size_t> event;
  std::vector<std::size_t> ignored;

  /// Throws Error where a column is not there, or named for two things.
  ColumnRoles(const std::vector<std::string>& names, const DatasetOptions& options, const std::string& path);

  /// Those that are not read as numbers at once.
  std::vector<bool> as_text(std::size_t count) const;
};

/// Replaces NaN by the mean of the column's other values, which it gives.
double impute(double* column, int64_t rows, const std::string& name, const std::string& path);

/// Throws FormatError where the largest value of a column is so large or so small that products of columns
/// would overflow or vanish.
void check_range(const double* column, int64_t rows, const std::string& name, const std::string& path);

}  // namespace hewn::convex
