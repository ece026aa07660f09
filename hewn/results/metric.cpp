#include "hewn/results/metric.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "hewn/core/error.h"

namespace hewn::results {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

}  // namespace

std::string usual_metric(bool clicks) { return clicks ? "loss" : "accuracy"; }

bool larger_is_better(const std::string& metric) {
  if (metric == "accuracy" || metric == "auc") return true;
  if (metric == "loss") return false;
  throw Error(str("metric: expected accuracy, auc or loss, got \"", metric, "\""));
}

double cost(const std::string& metric, double value) {
  if (metric == "accuracy" || metric == "auc") return -value;
  return metric == "calibration" ? std::abs(value - 1) : value;
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
  return printed(metric == "accuracy" ? "%.2f" : "%.4f", value);
}

std::string difference_text(const std::string& metric, double value) {
  return printed(metric == "accuracy" ? "%+.2f" : "%+.4f", value);
}

std::string probability_text(double p) { return printed("%.2g", p); }

}  // namespace hewn::results
