#include "hewn/data/tables/cells.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "hewn/convex/dataset/columns.h"
#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/csv.h"
#include "hewn/io/npz.h"
#include "hewn/io/source_kind.h"

namespace hewn::data {
namespace {

/// What the columns of a file are for, by their numbers. Others are left out.
struct Columns {
  std::vector<size_t> numbers;
  std::vector<size_t> categories;
  std::optional<size_t> target;
};

/// From the names of a file's columns, and whether the file itself says them.
using ChooseColumns = std::function<Columns(const std::vector<std::string>& names, bool named)>;

std::vector<std::string> words_of(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : split(text, ',');
}

/// Columns are found again by their names: those that are used must be the only ones of their name.
void check_once(const std::vector<std::string>& names, const Columns& used, const std::string& where) {
  std::unordered_map<std::string_view, int> count;
  for (const std::string& name : names) ++count[name];
  const auto check = [&](size_t column) {
    if (count[names[column]] > 1)
      throw FormatError(where, str("column \"", names[column], "\" is there twice"));
  };
  std::for_each(used.numbers.begin(), used.numbers.end(), check);
  std::for_each(used.categories.begin(), used.categories.end(), check);
  if (used.target) check(*used.target);
}

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

/// `read` is io::read_csv or io::parse_csv of the text that errors call `where`.
Cells cells_of_csv(const std::function<io::Table(const io::CsvOptions&)>& read, io::CsvOptions options,
                   const std::string& where, const ChooseColumns& choose) {
  Columns columns;
  options.text_columns = [&](const std::vector<std::string>& names) {
    columns = choose(names, names.front() != "column 1");  // what the reader calls it for want of a header
    std::vector<bool> text(names.size(), true);
    for (const size_t c : columns.numbers) text[c] = false;
    return text;
  };
  io::Table table = read(options);
  Cells out{where, table.rows, names_at(table.names, columns.numbers), {}, {}, {}, "", {}, {}};
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
    names.emplace_back("y0");
    arrays.x.values.insert(arrays.x.values.end(), arrays.y.values.begin(), arrays.y.values.end());
  }
  const Columns columns = choose(names, /*named=*/false);
  if (!columns.categories.empty()) {
    throw FormatError(where,
                      "is an array of numbers, the model takes columns of text too; expected a CSV file");
  }
  Cells out{where, arrays.x.rows, names_at(names, columns.numbers), {}, {}, {}, "", {}, {}};
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

/// As hewn select understands them: what is named for nothing else is a feature.
ChooseColumns columns_by(const TableOptions& options, const std::string& path) {
  return [&options, &path](const std::vector<std::string>& names, bool named) {
    convex::DatasetOptions roles;
    if (!options.target.empty()) roles.targets = {options.target};
    roles.categories = words_of(options.categories);
    roles.ignore = words_of(options.ignore);
    const convex::ColumnRoles found(names, roles, path);
    const bool array = !named && names.front() == "0";
    if (array && !(roles.categories.empty() && roles.ignore.empty())) {
      throw Error("categories and ignore: name columns of a CSV file, not of an array");
    }
    if (array && names.back() == "y0" && found.targets.front() + 1 != names.size()) {
      throw Error(str("target: ", path, " holds the target as an array of its own, got ", options.target));
    }
    Columns out{{}, found.categories, found.targets.front()};
    const std::vector<bool> text = found.as_text(names.size());
    for (size_t c = 0; c < names.size(); ++c) {
      if (!text[c]) out.numbers.push_back(c);
    }
    if (out.numbers.empty() && out.categories.empty()) {
      throw FormatError(path, "has no columns left for features");
    }
    check_once(names, out, path);
    return out;
  };
}

/// By their names; where the file says none and has as many columns as there are features, in their order.
ChooseColumns columns_by(const TableEncoding& encoding, const std::string& where) {
  return [&encoding, &where](const std::vector<std::string>& names, bool named) {
    const auto find = [&](const std::string& name) {
      return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    std::vector<std::string> wanted = encoding.numbers;
    for (const Category& category : encoding.categories) wanted.push_back(category.name);
    std::vector<size_t> at;
    for (const std::string& name : wanted) at.push_back(find(name));
    size_t target = find(encoding.target);
    const auto missing = std::find(at.begin(), at.end(), names.size());
    if (missing != at.end()) {
      const std::string& name = wanted[static_cast<size_t>(missing - at.begin())];
      if (named || names.size() != wanted.size()) {
        throw FormatError(where, str("has no column \"", name, "\", which the model takes",
                                     named ? did_you_mean(name, names) : ""));
      }
      std::iota(at.begin(), at.end(), size_t{0});
      target = names.size();
    }
    const auto texts = at.begin() + static_cast<int64_t>(encoding.numbers.size());
    Columns out{{at.begin(), texts}, {texts, at.end()}, std::nullopt};
    if (target < names.size()) out.target = target;
    check_once(names, out, where);
    return out;
  };
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
