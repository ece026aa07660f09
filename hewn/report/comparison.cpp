#include "hewn/report/comparison.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hewn/report/series.h"
#include "hewn/results/metric.h"
#include "hewn/results/standing.h"

namespace hewn::report {
namespace {

/// Where methods compete.
struct Cell {
  std::string task;
  std::string block;
  double sparsity = 0;

  bool operator<(const Cell& other) const {
    return std::tie(task, block, sparsity) < std::tie(other.task, other.block, other.sparsity);
  }
};
using Methods = std::map<std::string, results::Sample>;

void add_statistics(Json& row, const results::Sample& sample) {
  row["n"] = sample.size();
  row["mean"] = rounded(sample.mean(), 6);
  row["sd"] = rounded(sample.deviation().value_or(0), 6);
}

/// Nothing where only one method was tried.
std::optional<Json> winner(const Cell& cell, const std::string& metric, const Methods& methods) {
  std::vector<std::string> names;
  std::vector<results::Sample> samples;
  for (const auto& [name, sample] : methods) {
    names.push_back(name);
    samples.push_back(sample);
  }
  const results::Standing standing = results::judge(metric, samples);
  if (!standing.second) return std::nullopt;
  return Json{{"task", cell.task},
              {"block", cell.block},
              {"sparsity", cell.sparsity},
              {"metric", metric},
              {"best", names[standing.best.front()]},
              {"second", names[*standing.second]},
              {"margin", rounded(standing.margin, 6)},
              {"verdict", results::name_of(standing.verdict)}};
}

/// The metric by which runs are judged first.
Json in_order(std::set<std::string> names) {
  Json out = Json::array();
  for (const std::string& usual : results::metrics_of(results::answers_with(names))) {
    if (names.erase(usual) != 0) out.push_back(usual);
  }
  for (const std::string& name : names) out.push_back(name);
  return out;
}

/// Which way each metric is better, in words; calibration is best at 1.
Json directions(const std::set<std::string>& names) {
  Json out = Json::object();
  for (const std::string& name : names) {
    out[name] = name == "calibration"        ? "1 is best"
                : results::cost(name, 1) < 0 ? "higher is better"
                                             : "lower is better";
  }
  return out;
}

}  // namespace

Json compare_outcomes(const std::vector<Outcome>& outcomes) {
  std::set<std::string> names;
  std::map<std::string, std::map<Cell, Methods>> by_metric;
  std::map<std::pair<std::string, std::string>, std::map<std::string, results::Sample>>
      dense;  // task, method -> metric
  for (const Outcome& one : outcomes) {
    for (const auto& [metric, value] : one.metrics) {
      names.insert(metric);
      results::Sample& sample = one.dense
                                    ? dense[{one.task, one.method}][metric]
                                    : by_metric[metric][{one.task, one.block, one.sparsity}][one.method];
      sample.add(one.seed, value);
    }
  }
  Json cells = Json::array();
  Json winners = Json::array();
  for (const auto& [metric, by_cell] : by_metric) {
    for (const auto& [cell, methods] : by_cell) {
      for (const auto& [method, sample] : methods) {
        Json row = {{"task", cell.task},
                    {"block", cell.block},
                    {"sparsity", cell.sparsity},
                    {"method", method},
                    {"metric", metric}};
        add_statistics(row, sample);
        cells.push_back(std::move(row));
      }
      if (const auto row = winner(cell, metric, methods)) winners.push_back(*row);
    }
  }
  Json baselines = Json::array();
  for (const auto& [who, samples] : dense) {
    for (const auto& [metric, sample] : samples) {
      Json row = {{"task", who.first}, {"method", who.second}, {"metric", metric}};
      add_statistics(row, sample);
      baselines.push_back(std::move(row));
    }
  }
  return {{"metrics", in_order(names)},
          {"better", directions(names)},
          {"cells", cells},
          {"dense", baselines},
          {"winners", winners}};
}

}  // namespace hewn::report
