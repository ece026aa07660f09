#include <algorithm>
#include <cmath>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/data/tables/encoding.h"

namespace hewn::data {
namespace {

constexpr const char* kTableKind = "table";

const std::vector<double>& doubles_in(const Arrays& arrays, const std::string& name) {
  static const std::vector<double> kNone;
  const auto found = arrays.find(name);
  const auto* values = found == arrays.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
  return values == nullptr ? kNone : *values;
}

/// No column is two things.
bool names_are_distinct(const TableEncoding& encoding) {
  std::vector<std::string_view> names(encoding.numbers.begin(), encoding.numbers.end());
  for (const Category& category : encoding.categories) names.push_back(category.name);
  names.push_back(encoding.target);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

/// Every column has a place of its own.
bool layout_fits(const TableEncoding& encoding) {
  std::vector<size_t> places = encoding.layout.features;
  if (places.size() != encoding.numbers.size() + encoding.categories.size()) return false;
  places.push_back(encoding.layout.target);
  std::sort(places.begin(), places.end());
  return places.back() < encoding.layout.columns &&
         std::adjacent_find(places.begin(), places.end()) == places.end();
}

void check_encoding(const TableEncoding& encoding, const std::string& where) {
  size_t features = encoding.numbers.size();
  for (const Category& category : encoding.categories) features += category.values.size();
  const bool fits = features > 0 && encoding.means.size() == features && encoding.scales.size() == features;
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto spread = [](double value) { return std::isfinite(value) && value >= 0; };
  if (fits && names_are_distinct(encoding) && layout_fits(encoding) &&
      std::all_of(encoding.means.begin(), encoding.means.end(), finite) &&
      std::all_of(encoding.scales.begin(), encoding.scales.end(), spread) &&
      std::isfinite(encoding.target_mean) && std::isfinite(encoding.target_scale) &&
      encoding.target_scale > 0) {
    return;
  }
  throw FormatError(where, "what it says of a table's columns does not fit together");
}

}  // namespace

bool is_table_rule(const Json& rule) {
  return rule.is_object() && rule.contains("kind") && rule["kind"] == kTableKind;
}

Preprocessing table_preprocessing(const TableEncoding& encoding) {
  Json categories = Json::array();
  for (const Category& category : encoding.categories)
    categories.push_back({{"name", category.name}, {"values", category.values}});
  Json target = {{"name", encoding.target}};
  if (encoding.classes.empty()) {
    target["mean"] = encoding.target_mean;
    target["scale"] = encoding.target_scale;
  }
  const Json layout = {{"columns", encoding.layout.columns},
                       {"features", encoding.layout.features},
                       {"target", encoding.layout.target}};
  return {encoding.classes,
          {{"kind", kTableKind},
           {"numbers", encoding.numbers},
           {"categories", categories},
           {"standardise", encoding.standardise},
           {"impute", encoding.impute},
           {"target", target},
           {"layout", layout},
           {"header", encoding.header},
           {"separator", encoding.separator},
           {"rows", encoding.rows},
           {"crc32", encoding.crc32}},
          {{"means", encoding.means}, {"scales", encoding.scales}}};
}

TableEncoding table_encoding(const Preprocessing& record, const std::string& where) {
  TableEncoding out;
  if (!is_table_rule(record.rule)) throw FormatError(where, "is not made for rows of a table");
  try {
    record.rule.at("numbers").get_to(out.numbers);
    for (const Json& category : record.rule.at("categories")) {
      out.categories.push_back(
          {category.at("name").get<std::string>(), category.at("values").get<std::vector<std::string>>()});
    }
    record.rule.at("standardise").get_to(out.standardise);
    record.rule.at("impute").get_to(out.impute);
    const Json& target = record.rule.at("target");
    target.at("name").get_to(out.target);
    if (record.classes.empty()) {
      target.at("mean").get_to(out.target_mean);
      target.at("scale").get_to(out.target_scale);
    }
    const Json& layout = record.rule.at("layout");
    layout.at("columns").get_to(out.layout.columns);
    layout.at("features").get_to(out.layout.features);
    layout.at("target").get_to(out.layout.target);
    record.rule.at("header").get_to(out.header);
    record.rule.at("separator").get_to(out.separator);
    record.rule.at("rows").get_to(out.rows);
    record.rule.at("crc32").get_to(out.crc32);
  } catch (const Json::exception&) {
    throw FormatError(where, "does not say how rows of a table become inputs");
  }
  out.classes = record.classes;
  out.means = doubles_in(record.arrays, "means");
  out.scales = doubles_in(record.arrays, "scales");
  check_encoding(out, where);
  return out;
}

}  // namespace hewn::data
