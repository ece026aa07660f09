#include "hewn/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "hewn/report/series.h"

namespace hewn::report {
namespace {

/// Values of one metric in runs that differ by their seeds alone.
struct Sample {
  std::map<int64_t, double> values;  // seed by seed

  double mean() const {
    double sum = 0;
    for (const auto& [seed, value] : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  /// Of a single run; 0 where there is no second.
  double deviation() const {
    if (values.size() < 2) return 0;
    double sum = 0;
    for (const auto& [seed, value] : values) sum += (value - mean()) * (value - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
  double variance_of_mean() const { return deviation() * deviation() / static_cast<double>(values.size()); }
};

using Place = std::tuple<std::string, std::string, double>;  // task, block, sparsity
using Methods = std::map<std::string, Sample>;

/// What ranks methods: less is better.
double cost(const std::string& metric, double value) {
  if (metric == "accuracy" || metric == "auc") return -value;
  return metric == "calibration" ? std::abs(value - 1) : value;
}

Json winner(const Place& place, const std::string& metric, const Methods& methods) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [name, sample] : methods) {
    ranked.emplace_back(cost(metric, sample.mean()), name);
  }
  std::sort(ranked.begin(), ranked.end());
  const Sample& best = methods.at(ranked[0].second);
  const Sample& second = methods.at(ranked[1].second);
  const double margin = ranked[1].first - ranked[0].first;
  const bool repeated = best.values.size() > 1 && second.values.size() > 1;
  // Two standard errors of the difference.
  const bool clear = repeated && margin > 2 * std::sqrt(best.variance_of_mean() + second.variance_of_mean());
  const auto& [task, block, sparsity] = place;
  return {{"task", task},
          {"block", block},
          {"sparsity", sparsity},
          {"metric", metric},
          {"best", ranked[0].second},
          {"second", ranked[1].second},
          {"margin", rounded(margin, 6)},
          {"verdict", margin == 0 ? "tie"
                      : !repeated ? "one seed"
                      : clear     ? "clear"
                                  : "within noise"}};
}

}  // namespace

Json compare_outcomes(const std::vector<Outcome>& outcomes) {
  std::set<std::string> names;
  std::map<std::string, std::map<Place, Methods>> by_metric;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Sample>>
      dense;  // task, method -> metric
  for (const Outcome& one : outcomes) {
    for (const auto& [metric, value] : one.metrics) {
      names.insert(metric);
      Sample& sample = one.dense ? dense[{one.task, one.method}][metric]
                                 : by_metric[metric][{one.task, one.block, one.sparsity}][one.method];
      sample.values.emplace(one.seed, value);
    }
  }
  Json metrics = Json::array();
  // Click logs are judged by their loss, images by their accuracy.
  const bool clicks = names.contains("auc");
  for (const char* usual : {clicks ? "loss" : "accuracy", clicks ? "auc" : "loss"}) {
    if (names.erase(usual) != 0) metrics.push_back(usual);
  }
  for (const std::string& name : names) metrics.push_back(name);
  Json cells = Json::array();
  Json winners = Json::array();
  for (const auto& [metric, places] : by_metric) {
    for (const auto& [place, methods] : places) {
      for (const auto& [method, sample] : methods) {
        cells.push_back({{"task", std::get<0>(place)},
                         {"block", std::get<1>(place)},
                         {"sparsity", std::get<2>(place)},
                         {"method", method},
                         {"metric", metric},
                         {"n", sample.values.size()},
                         {"mean", rounded(sample.mean(), 6)},
                         {"sd", rounded(sample.deviation(), 6)}});
      }
      if (methods.size() > 1) winners.push_back(winner(place, metric, methods));
    }
  }
  Json baselines = Json::array();
  for (const auto& [who, samples] : dense) {
    for (const auto& [metric, sample] : samples) {
      baselines.push_back({{"task", who.first},
                           {"method", who.second},
                           {"metric", metric},
                           {"n", sample.values.size()},
                           {"mean", rounded(sample.mean(), 6)},
                           {"sd", rounded(sample.deviation(), 6)}});
    }
  }
  return {{"metrics", metrics}, {"cells", cells}, {"dense", baselines}, {"winners", winners}};
}

}  // namespace hewn::report
