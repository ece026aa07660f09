#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::io {

enum class Header { kAuto, kYes, kNo };

struct CsvOptions {
  /// Auto: the first line is a header when none of its fields is a number.
  Header header = Header::kAuto;
  char separator = ',';
  /// Columns to keep as text, by their number; called once all names are known. Empty: none.
  std::function<std::vector<bool>(const std::vector<std::string>& names)> text_columns;
};

/// A cell without a value: empty, NA, NaN, null or ?.
struct Missing {
  int64_t line = 0;    // of the file, from 1
  int64_t column = 0;  // of the file, from 0
};

/// Columns of numbers in one block, column after column, and columns of text.
struct Table {
  int64_t rows = 0;
  std::vector<std::string> names;  // "column 1", ... where there is no header
  bool has_header = false;
  std::vector<int64_t> numeric;       // file columns in the order of `values`
  std::vector<double> values;         // rows x numeric.size(), column-major; NaN where missing
  std::vector<int64_t> text_columns;  // file columns in the order of `text`
  std::vector<std::vector<std::string>> text;
  std::vector<int64_t> lines;  // on which each row begins, from 1
  int64_t missing = 0;         // cells of numeric columns
  std::optional<Missing> first_missing;
};

/// Reads a CSV file, plain or gzip, in two passes: one counts, one fills the table, so that no second copy of
/// the numbers exists. Fields may be quoted, with "" for a quote. Throws FormatError naming line and column.
Table read_csv(const std::filesystem::path& path, const CsvOptions& options);
/// The same for text in memory, which errors call `where`.
Table parse_csv(std::string_view text, const std::string& where, const CsvOptions& options);

/// Whether the text is a number; infinities and NaN are not.
bool parse_number(std::string_view text, double& value);
bool is_missing(std::string_view text);

}  // namespace hewn::io
