#include "hewn/data/tables/column_choice.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "hewn/convex/dataset/columns.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::data {
namespace {

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

Columns columns_of(const TableEncoding& encoding, const std::vector<size_t>& features) {
  const auto texts = features.begin() + static_cast<int64_t>(encoding.numbers.size());
  return {{features.begin(), texts}, {texts, features.end()}, std::nullopt};
}

Columns columns_by_name(const TableEncoding& encoding, const std::vector<std::string>& names,
                        const std::string& where) {
  std::unordered_map<std::string_view, size_t> column;
  for (size_t c = 0; c < names.size(); ++c) column.emplace(names[c], c);
  std::vector<size_t> at;
  const auto add = [&](const std::string& name) {
    const auto found = column.find(name);
    if (found == column.end()) {
      throw FormatError(
          where, str("has no column \"", name, "\", which the model takes", did_you_mean(name, names)));
    }
    at.push_back(found->second);
  };
  for (const std::string& name : encoding.numbers) add(name);
  for (const Category& category : encoding.categories) add(category.name);
  Columns out = columns_of(encoding, at);
  const auto target = column.find(encoding.target);
  if (target != column.end()) out.target = target->second;
  check_once(names, out, where);
  return out;
}

/// All columns that the training table had, or just the features, in the order of that table.
Columns columns_by_place(const TableEncoding& encoding, const std::vector<std::string>& names,
                         const std::string& where) {
  const TableLayout& layout = encoding.layout;
  const size_t target_array = names.back() == kTargetArray ? 1 : 0;
  std::vector<size_t> at(layout.features.begin(), layout.features.end());
  std::optional<size_t> target;
  if (std::cmp_equal(names.size(), layout.columns) &&
      (target_array == 0 || layout.target + 1 == layout.columns)) {
    target = layout.target;
  } else if (names.size() - target_array == at.size()) {
    std::vector<size_t> order(at.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return layout.features[a] < layout.features[b]; });
    for (size_t c = 0; c < order.size(); ++c) at[order[c]] = c;
    if (target_array == 1) target = at.size();
  } else {
    throw FormatError(where, str("has ", names.size(), " columns without names, expected the ", at.size(),
                                 " that the model takes or all ", layout.columns, " of its training table"));
  }
  Columns out = columns_of(encoding, at);
  out.target = target;
  return out;
}

}  // namespace

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
    if (array && names.back() == kTargetArray && found.targets.front() + 1 != names.size()) {
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

ChooseColumns columns_by(const TableEncoding& encoding, const std::string& where) {
  return [&encoding, &where](const std::vector<std::string>& names, bool named) {
    return named ? columns_by_name(encoding, names, where) : columns_by_place(encoding, names, where);
  };
}

}  // namespace hewn::data
