#include "hewn/results/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::results {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

/// What is known of a metric: here and nowhere else.
struct MetricRow {
  const char* name;
  bool larger;  // is better
  const char* value;
  const char* difference;
};
constexpr MetricRow kRows[] = {{"accuracy", true, "%.2f", "%+.2f"}, {"auc", true, "%.4f", "%+.4f"},
                               {"bpc", false, "%.4f", "%+.4f"},     {"loss", false, "%.4f", "%+.4f"},
                               {"r2", true, "%.4f", "%+.4f"},       {"rmse", false, "%.5g", "%+.3g"}};

const MetricRow* find_metric(const std::string& name) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const MetricRow& row) { return name == row.name; });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace

const std::vector<std::string>& metrics_of(Answers answers) {
  static const std::vector<std::string> kClasses = {"accuracy", "loss"};
  static const std::vector<std::string> kClicks = {"loss", "auc", "accuracy"};
  static const std::vector<std::string> kNumbers = {"rmse", "r2", "loss"};
  static const std::vector<std::string> kText = {"bpc", "accuracy", "loss"};
  switch (answers) {
    case Answers::kClicks:
      return kClicks;
    case Answers::kNumbers:
      return kNumbers;
    case Answers::kText:
      return kText;
    default:
      return kClasses;
  }
}

Answers answers_with(const std::set<std::string>& names) {
  return names.contains("auc")    ? Answers::kClicks
         : names.contains("rmse") ? Answers::kNumbers
         : names.contains("bpc")  ? Answers::kText
                                  : Answers::kClasses;
}

bool larger_is_better(const std::string& metric) {
  const MetricRow* row = find_metric(metric);
  if (row != nullptr) return row->larger;
  std::vector<std::string> names;
  for (const MetricRow& known : kRows) names.emplace_back(known.name);
  throw Error(str("metric: expected one of ", join(names), ", got \"", metric, "\""));
}

double cost(const std::string& metric, double value) {
  if (metric == "calibration") return std::abs(value - 1);
  const MetricRow* row = find_metric(metric);
  return row != nullptr && row->larger ? -value : value;
}

std::map<std::string, double> numbers_of(const Json& metrics) {
  std::map<std::string, double> found;
  if (!metrics.is_object()) return found;
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number()) found[name] = value.get<double>();
  }
  return found;
}

std::string value_text(const std::string& metric, double value) {
  const MetricRow* row = find_metric(metric);
  return printed(row != nullptr ? row->value : "%.4f", value);
}

std::string difference_text(const std::string& metric, double value) {
  const MetricRow* row = find_metric(metric);
  return printed(row != nullptr ? row->difference : "%+.4f", value);
}

std::string probability_text(double p) { return printed("%.2g", p); }

}  // namespace hewn::results
