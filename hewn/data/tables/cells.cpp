#include "hewn/data/tables/cells.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/tables/column_choice.h"
#include "hewn/io/csv.h"
#include "hewn/io/npz.h"
#include "hewn/io/source_kind.h"

namespace hewn::data {
namespace {

std::vector<std::string> names_at(const std::vector<std::string>& names, const std::vector<size_t>& at) {
  std::vector<std::string> out;
  for (const size_t i : at) out.push_back(names[i]);
  return out;
}

io::CsvOptions csv_options(const std::string& header, const std::string& separator) {
  io::CsvOptions out;
  out.header = header == "yes" ? io::Header::kYes : header == "no" ? io::Header::kNo : io::Header::kAuto;
  if (separator == "tab") {
    out.separator = '\t';
  } else if (separator.size() == 1 && separator != "\"") {
    out.separator = separator[0];
  } else {
    throw Error(str("separator: expected one character or tab, got \"", separator, "\""));
  }
  return out;
}

TableLayout layout_of(const Columns& columns, size_t count) {
  TableLayout out{count, columns.numbers, columns.target.value_or(count)};
  out.features.insert(out.features.end(), columns.categories.begin(), columns.categories.end());
  return out;
}

/// Whether a header says them: without one the reader counts the columns.
bool are_named(const std::vector<std::string>& names) {
  for (size_t c = 0; c < names.size(); ++c) {
    if (names[c] != str("column ", c + 1)) return true;
  }
  return false;
}

/// `read` is io::read_csv or io::parse_csv of the text that errors call `where`.
Cells cells_of_csv(const std::function<io::Table(const io::CsvOptions&)>& read, io::CsvOptions options,
                   const std::string& where, const ChooseColumns& choose) {
  Columns columns;
  options.text_columns = [&](const std::vector<std::string>& names) {
    columns = choose(names, are_named(names));
    std::vector<bool> text(names.size(), true);
    for (const size_t c : columns.numbers) text[c] = false;
    return text;
  };
  io::Table table = read(options);
  Cells out{where, table.rows, names_at(table.names, columns.numbers), {}, {}, {}, "",
            {},    {},         layout_of(columns, table.names.size())};
  out.lines = std::move(table.lines);
  const auto place_of = [](const std::vector<int64_t>& list, size_t column) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(column)) - list.begin();
  };
  if (std::is_sorted(columns.numbers.begin(), columns.numbers.end())) {
    out.values = std::move(table.values);
  } else {
    for (const size_t c : columns.numbers) {
      const auto begin = table.values.begin() + place_of(table.numeric, c) * table.rows;
      out.values.insert(out.values.end(), begin, begin + table.rows);
    }
  }
  const auto text = [&](size_t column) {
    return std::move(table.text[static_cast<size_t>(place_of(table.text_columns, column))]);
  };
  out.categories = names_at(table.names, columns.categories);
  for (const size_t c : columns.categories) out.texts.push_back(text(c));
  if (columns.target) {
    out.target = table.names[*columns.target];
    out.answers = text(*columns.target);
  }
  return out;
}

/// Features and, where it has a path, the target beside them.
struct TableArrays {
  io::NpyMatrix x;
  io::NpyMatrix y;
  bool has_target = false;
};

Cells cells_of_arrays(TableArrays arrays, const std::string& where, const ChooseColumns& choose) {
  if (arrays.x.rows < 1 || arrays.x.cols < 1) throw FormatError(where, "is empty");
  if (arrays.has_target && (arrays.y.rows != arrays.x.rows || arrays.y.cols != 1)) {
    throw FormatError(where, str("expected a target for each of the ", arrays.x.rows, " rows, got ",
                                 arrays.y.rows, " x ", arrays.y.cols));
  }
  std::vector<std::string> names;
  for (int64_t c = 0; c < arrays.x.cols; ++c) names.push_back(str(c));
  if (arrays.has_target) {
    names.emplace_back(kTargetArray);
    arrays.x.values.insert(arrays.x.values.end(), arrays.y.values.begin(), arrays.y.values.end());
  }
  const Columns columns = choose(names, /*named=*/false);
  if (!columns.categories.empty()) {
    throw FormatError(where,
                      "is an array of numbers, the model takes columns of text too; expected a CSV file");
  }
  Cells out{where,
            arrays.x.rows,
            names_at(names, columns.numbers),
            {},
            {},
            {},
            "",
            {},
            {},
            layout_of(columns, names.size())};
  const auto column = [&](size_t c) { return arrays.x.values.begin() + static_cast<int64_t>(c) * out.rows; };
  for (const size_t c : columns.numbers) out.values.insert(out.values.end(), column(c), column(c) + out.rows);
  if (columns.target) {
    out.target = names[*columns.target];
    std::for_each(column(*columns.target), column(*columns.target) + out.rows, [&](double value) {
      out.answers.push_back(std::isnan(value) ? std::string() : convex::label_of(value));
    });
  }
  return out;
}

TableArrays arrays_of_npz(const std::string& path) {
  const std::vector<std::string> names = io::npz_arrays(path);
  if (names.size() == 1) return {io::read_npz(path, names[0]), {}, false};
  const auto find = [&](const char* upper, const char* lower) {
    const auto at = std::find_if(names.begin(), names.end(),
                                 [&](const std::string& name) { return name == upper || name == lower; });
    if (at != names.end()) return *at;
    throw FormatError(path, str("expected arrays X and y, or one alone; it has ", join(names)));
  };
  return {io::read_npz(path, find("X", "x")), io::read_npz(path, find("Y", "y")), true};
}

Cells read_any(const std::string& path, const io::CsvOptions& options, const ChooseColumns& choose) {
  using io::SourceKind;
  const size_t comma = path.find(".npy,");
  if (comma != std::string::npos) {
    return cells_of_arrays(
        {io::read_npy(path.substr(0, comma + 4)), io::read_npy(path.substr(comma + 5)), true}, path, choose);
  }
  switch (const SourceKind kind = io::kind_of(path)) {
    case SourceKind::kNpy:
      return cells_of_arrays({io::read_npy(path), {}, false}, path, choose);
    case SourceKind::kNpz:
      return cells_of_arrays(arrays_of_npz(path), path, choose);
    case SourceKind::kUnknown:
      return cells_of_csv([&](const io::CsvOptions& with) { return io::read_csv(path, with); }, options, path,
                          choose);
    case SourceKind::kMissing:
      throw FormatError(path, "no such file; expected a CSV, NPY or NPZ file");
    default:
      throw FormatError(path, str("is ", name_of(kind), ", expected a CSV, NPY or NPZ file"));
  }
}

}  // namespace

std::string Cells::place(int64_t row) const {
  return lines.empty() ? str("row ", row) : str("line ", lines[static_cast<size_t>(row)]);
}

Cells read_cells(const std::string& path, const TableOptions& options) {
  return read_any(path, csv_options(options.header, options.separator), columns_by(options, path));
}

Cells read_new_rows(const std::string& path, const TableEncoding& encoding) {
  return read_any(path, csv_options(encoding.header, encoding.separator), columns_by(encoding, path));
}

Cells parse_new_rows(std::string_view bytes, const std::string& where, const TableEncoding& encoding) {
  const ChooseColumns choose = columns_by(encoding, where);
  if (io::starts_as_npy(bytes))
    return cells_of_arrays({io::parse_npy(bytes, where), {}, false}, where, choose);
  return cells_of_csv([&](const io::CsvOptions& with) { return io::parse_csv(bytes, where, with); },
                      csv_options(encoding.header, encoding.separator), where, choose);
}

}  // namespace hewn::data
