#include "hewn/data/tables/encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/rule_text.h"
#include "hewn/data/tables/answers.h"
#include "hewn/data/tables/cells.h"
#include "hewn/io/csv.h"

namespace hewn::data {
namespace {

struct Moments {
  double mean = 0;
  double scale = 0;  // 0 where all values are one
};

/// Of value(row) over some rows.
template <class Value>
Moments moments_of(const std::vector<int64_t>& rows, const Value& value) {
  Moments out;
  if (rows.empty()) return out;
  const auto count = static_cast<double>(rows.size());
  const double first = value(rows.front());
  bool one_value = true;
  for (const int64_t row : rows) {
    const double x = value(row);
    out.mean += (x - first) / count;
    one_value = one_value && x == first;
  }
  out.mean += first;
  if (one_value) return {first, 0};
  double most = 0;
  for (const int64_t row : rows) most = std::max(most, std::abs(value(row) - out.mean));
  // In a unit that is a power of two squares stay in range, and no bit of usual numbers changes.
  int unit = 0;
  std::frexp(most, &unit);
  double square = 0;
  for (const int64_t row : rows) square += std::pow(std::ldexp(value(row) - out.mean, -unit), 2) / count;
  out.scale = std::ldexp(std::sqrt(square), unit);
  return out;
}

void check_finite(const Moments& moments, const std::string& column, const std::string& where) {
  if (std::isfinite(moments.mean) && std::isfinite(moments.scale)) return;
  throw FormatError(where, str("column \"", column, "\": the numbers are too large to be scaled"));
}

/// Throws unless every number is finite, or missing and to be imputed.
void check_numbers(const Cells& cells, bool impute) {
  for (size_t c = 0; c < cells.numbers.size(); ++c) {
    const double* column = cells.column(c);
    for (int64_t row = 0; row < cells.rows; ++row) {
      if (std::isfinite(column[row]) || (impute && std::isnan(column[row]))) continue;
      throw FormatError(
          cells.where,
          str(cells.place(row), ", column \"", cells.numbers[c], "\": ",
              std::isnan(column[row])
                  ? "the value is missing; give impute mean to put the mean of the training rows there"
                  : "is not a finite number"));
    }
  }
}

Moments moments_of_column(const Cells& cells, size_t number, const std::vector<int64_t>& training) {
  const double* column = cells.column(number);
  std::vector<int64_t> known;
  for (const int64_t row : training) {
    if (!std::isnan(column[row])) known.push_back(row);
  }
  if (known.empty()) {
    throw FormatError(cells.where,
                      str("column \"", cells.numbers[number], "\" has no value in any training row"));
  }
  const Moments out = moments_of(known, [&](int64_t row) { return column[row]; });
  check_finite(out, cells.numbers[number], cells.where);
  return out;
}

Category category_of(const Cells& cells, size_t number, const std::map<std::string, double>& seen) {
  std::vector<std::string> values;
  for (const auto& [value, count] : seen) values.push_back(value);
  Category out{cells.categories[number], convex::distinct_labels(values)};
  if (out.values.size() > convex::kMostClasses) {
    throw FormatError(cells.where,
                      str("column \"", out.name, "\" has ", out.values.size(),
                          " distinct values, expected at most ", convex::kMostClasses, " for categories"));
  }
  return out;
}

void check_texts(const Cells& cells) {
  for (size_t c = 0; c < cells.texts.size(); ++c) {
    const auto missing = std::find_if(cells.texts[c].begin(), cells.texts[c].end(), io::is_missing);
    if (missing == cells.texts[c].end()) continue;
    throw FormatError(cells.where, str(cells.place(missing - cells.texts[c].begin()), ", column \"",
                                       cells.categories[c], "\": the value is missing"));
  }
}

constexpr size_t kLongestName = 1024;  // bytes, as in model files

/// They are recorded as JSON, and looked for again by what was recorded.
void check_names(const TableEncoding& encoding, const std::string& where) {
  const auto check = [&](const std::string& name) {
    if (plain_class_name(name) == name && name.size() <= kLongestName) return;
    throw FormatError(where, str("\"", plain_class_name(name.substr(0, kLongestName)),
                                 "\": a name is not UTF-8 text of one line and ", kLongestName, " bytes"));
  };
  for (const std::string& name : encoding.numbers) check(name);
  for (const Category& category : encoding.categories) {
    check(category.name);
    for (const std::string& value : category.values) check(value);
  }
  check(encoding.target);
  for (const std::string& name : encoding.classes) check(name);
}

/// What could not be recorded is refused before anything is trained.
void check_record(const TableEncoding& encoding, const std::string& where) {
  const std::string excess = excess_of_rule(table_preprocessing(encoding).rule.dump());
  if (excess.empty()) return;
  throw FormatError(
      where, str("the record of its columns and their values ", excess, "; leave columns out with ignore"));
}

uint32_t checksum(const Cells& cells) {
  const auto* bytes = reinterpret_cast<const char*>(cells.values.data());
  uint32_t sum = crc32({bytes, cells.values.size() * sizeof(double)});
  for (const auto& column : cells.texts) {
    for (const std::string& text : column) sum = crc32(text + '\n', sum);
  }
  for (const std::string& text : cells.answers) sum = crc32(text + '\n', sum);
  return sum;
}

}  // namespace

TableEncoding find_encoding(const Cells& cells, const std::vector<int64_t>& training,
                            const TableOptions& options) {
  TableEncoding out;
  out.impute = options.impute == "mean";
  out.standardise = options.standardise;
  out.header = options.header;
  out.separator = options.separator;
  out.layout = cells.layout;
  out.rows = cells.rows;
  out.crc32 = checksum(cells);
  check_numbers(cells, out.impute);
  check_texts(cells);
  const auto add = [&](const Moments& moments) {
    out.means.push_back(moments.mean);
    out.scales.push_back(moments.scale);
  };
  out.numbers = cells.numbers;
  for (size_t c = 0; c < cells.numbers.size(); ++c) add(moments_of_column(cells, c, training));
  for (size_t c = 0; c < cells.texts.size(); ++c) {
    std::map<std::string, double> seen;
    for (const int64_t row : training) seen[cells.texts[c][static_cast<size_t>(row)]] += 1;
    out.categories.push_back(category_of(cells, c, seen));
    for (const std::string& value : out.categories.back().values) {
      const double share = seen.at(value) / static_cast<double>(training.size());
      add({share, std::sqrt(share * (1 - share))});
    }
  }
  out.target = cells.target;
  if (is_classification(cells, options.task)) {
    out.classes = classes_of(cells);
    check_names(out, cells.where);
    check_record(out, cells.where);
    return out;
  }
  check_names(out, cells.where);
  check_record(out, cells.where);
  const std::vector<double> numbers = numbers_in(cells);
  const Moments target = moments_of(training, [&](int64_t row) { return numbers[static_cast<size_t>(row)]; });
  check_finite(target, cells.target, cells.where);
  if (target.scale == 0) {
    throw FormatError(cells.where, str("column \"", cells.target, "\" is ", target.mean, " in all ",
                                       training.size(), " training rows: there is nothing to learn"));
  }
  out.target_mean = target.mean;
  out.target_scale = target.scale;
  return out;
}

std::vector<float> encoded_inputs(const Cells& cells, const TableEncoding& encoding) {
  check_numbers(cells, encoding.impute);
  check_texts(cells);
  const auto features = static_cast<size_t>(encoding.features());
  std::vector<float> out(static_cast<size_t>(cells.rows) * features);
  const auto put = [&](size_t row, size_t feature, double value) {
    const double scale = encoding.scales[feature];
    if (encoding.standardise) value = scale > 0 ? (value - encoding.means[feature]) / scale : 0;
    // What is far outside the range of floats is far outside what the network has seen, too.
    constexpr double kMost = std::numeric_limits<float>::max();
    out[row * features + feature] = static_cast<float>(std::clamp(value, -kMost, kMost));
  };
  const auto rows = static_cast<size_t>(cells.rows);
  size_t feature = 0;
  for (; feature < cells.numbers.size(); ++feature) {
    const double* column = cells.column(feature);
    for (size_t row = 0; row < rows; ++row)
      put(row, feature, std::isnan(column[row]) ? encoding.means[feature] : column[row]);
  }
  for (size_t c = 0; c < encoding.categories.size(); ++c) {
    const std::vector<std::string>& values = encoding.categories[c].values;
    std::unordered_map<std::string_view, size_t> number_of;
    for (size_t i = 0; i < values.size(); ++i) number_of.emplace(values[i], i);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < values.size(); ++i) put(row, feature + i, 0);
      const auto found = number_of.find(cells.texts[c][row]);
      if (found != number_of.end()) put(row, feature + found->second, 1);
    }
    feature += values.size();
  }
  return out;
}

}  // namespace hewn::data
