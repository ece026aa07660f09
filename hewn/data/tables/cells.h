#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/data/tables/encoding.h"
#include "hewn/data/tables/options.h"

namespace hewn::data {

/// A table as it was read: nothing is filled in or scaled.
struct Cells {
  std::string where;  // its file, in errors
  int64_t rows = 0;
  std::vector<std::string> numbers;             // names of columns of numbers
  std::vector<double> values;                   // rows x numbers, column after column; NaN where missing
  std::vector<std::string> categories;          // names of columns of text
  std::vector<std::vector<std::string>> texts;  // of each of them
  std::string target;                           // its name; empty where the table has none
  std::vector<std::string> answers;             // the target's values
  std::vector<int64_t> lines;                   // of a CSV file
  TableLayout layout;

  /// Where a row stands: "line 7" of a CSV file, else "row 6", from 0.
  std::string place(int64_t row) const;
  const double* column(size_t number) const { return values.data() + number * static_cast<size_t>(rows); }
};

/// Reads a CSV file (gzip or not), X.npy, X.npy,Y.npy or an NPZ file with the arrays X and y: which of them
/// the content says. Throws Error that names the option, or FormatError with line and column.
Cells read_cells(const std::string& path, const TableOptions& options);

/// New rows for a model: the columns that its encoding names, in whatever order, and the target where there
/// is one. Tables without names hold the features in the order of the training table, or all of its columns.
Cells read_new_rows(const std::string& path, const TableEncoding& encoding);
/// The same for the bytes of a CSV or an NPY file, which errors call `where`.
Cells parse_new_rows(std::string_view bytes, const std::string& where, const TableEncoding& encoding);

}  // namespace hewn::data
