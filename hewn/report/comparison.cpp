#include "hewn/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hewn/core/error.h"
#include "hewn/report/series.h"
#include "hewn/train/options.h"

namespace hewn::report {
namespace {

namespace fs = std::filesystem;

/// Values of one metric in runs that differ by their seeds alone.
struct Sample {
  std::vector<double> values;

  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  /// Of a single run; 0 where there is no second.
  double deviation() const {
    if (values.size() < 2) return 0;
    double sum = 0;
    for (const double value : values) sum += (value - mean()) * (value - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
  double variance_of_mean() const { return deviation() * deviation() / static_cast<double>(values.size()); }
};

using Place = std::tuple<std::string, std::string, double>;  // task, block, sparsity
using Methods = std::map<std::string, Sample>;

/// Keys that do not set a run apart: those that the table has columns for, and those that may change when a
/// run is resumed.
bool sets_apart(const std::string& key) {
  static const std::set<std::string> kColumns = {
      "seed",  "out",    "block",      "sparsity",         "data",
      "model", "method", "no-compare", "sparse-execution", "compare-dense"};
  return !kColumns.contains(key) && !train::may_change_on_resume(key);
}

/// Equal for equal values, however they were written.
std::string text_of(const Json& value) {
  if (value.is_number()) return str(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// What a run's method and task are, as one key.
std::string kind_of(const RunView& run) {
  const Json& options = run.config().at("options");
  std::string key;
  for (const char* name : {"method", "data", "model"}) key += text_of(options.value(name, Json())) + "\n";
  return key;
}

/// Options in which runs of one kind differ.
std::map<std::string, std::set<std::string>> varied(const std::vector<RunView>& runs) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> seen;
  for (const RunView& run : runs) {
    for (const auto& [key, value] : run.config().at("options").items()) {
      if (sets_apart(key)) seen[kind_of(run)][key].insert(text_of(value));
    }
  }
  std::map<std::string, std::set<std::string>> out;
  for (const auto& [kind, keys] : seen) {
    for (const auto& [key, values] : keys) {
      if (values.size() > 1) out[kind].insert(key);
    }
  }
  return out;
}

Json winner(const Place& place, const std::string& metric, const Methods& methods) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [name, sample] : methods) {
    ranked.emplace_back(more_is_better(metric) ? -sample.mean() : sample.mean(), name);
  }
  std::sort(ranked.begin(), ranked.end());
  const Sample& best = methods.at(ranked[0].second);
  const Sample& second = methods.at(ranked[1].second);
  const double margin = std::abs(best.mean() - second.mean());
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
          {"margin", rounded(margin, 4)},
          {"verdict", margin == 0 ? "tie"
                      : !repeated ? "one seed"
                      : clear     ? "clear"
                                  : "within noise"}};
}

}  // namespace

bool more_is_better(const std::string& metric) { return metric == "accuracy" || metric == "auc"; }

std::vector<train::RunFolder> find_runs(const std::vector<std::string>& paths) {
  std::vector<train::RunFolder> runs;
  for (const std::string& text : paths) {
    const fs::path path = text;
    if (!fs::is_directory(path)) throw Error(str(text, ": no such folder"));
    if (train::RunFolder{path}.started()) {
      runs.push_back({path});
      continue;
    }
    const fs::path inside = fs::is_directory(path / "runs") ? path / "runs" : path;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(inside)) {
      if (train::RunFolder{entry.path()}.started()) found.push_back(entry.path());
    }
    if (found.empty()) throw Error(str(text, ": is not a run folder (no config.json), and holds none"));
    std::sort(found.begin(), found.end());
    for (const fs::path& one : found) runs.push_back({one});
  }
  return runs;
}

std::vector<Outcome> outcomes(const std::vector<RunView>& runs) {
  const auto differing = varied(runs);
  const auto numbers = [](const Json& metrics) {
    std::map<std::string, double> found;
    if (!metrics.is_object()) return found;
    for (const auto& [name, value] : metrics.items()) {
      if (value.is_number()) found[name] = value.get<double>();
    }
    return found;
  };
  std::vector<Outcome> out;
  for (const RunView& run : runs) {
    if (run.status() != Status::kFinished) continue;
    const Json& options = run.config().at("options");
    const auto option = [&](const std::string& key) { return text_of(options.value(key, Json())); };
    Outcome one;
    one.task = str(option("data"), " · ", option("model"));
    one.method = option("method");
    if (const auto keys = differing.find(kind_of(run)); keys != differing.end()) {
      for (const std::string& key : keys->second) one.method += str(" ", key, " ", option(key));
    }
    one.block = option("block");
    one.sparsity = run.summary().value("sparsity", 0.0);
    one.metrics = numbers(run.summary().value("metrics", Json()));
    // The dense run of --compare-dense is one more.
    const auto dense = numbers(run.summary().value("dense_metrics", Json()));
    if (!dense.empty()) out.push_back({one.task, "dense", one.block, 0, dense});
    out.push_back(std::move(one));
  }
  return out;
}

Json compare_outcomes(const std::vector<Outcome>& outcomes) {
  std::set<std::string> names;
  std::map<std::string, std::map<Place, Methods>> by_metric;
  std::map<std::string, std::map<std::string, Sample>> dense;  // task -> metric
  for (const Outcome& one : outcomes) {
    for (const auto& [metric, value] : one.metrics) {
      names.insert(metric);
      if (one.method.starts_with("dense")) {
        dense[one.task][metric].values.push_back(value);
      } else {
        by_metric[metric][{one.task, one.block, one.sparsity}][one.method].values.push_back(value);
      }
    }
  }
  Json metrics = Json::array();
  // Click logs are judged by their loss, images by their accuracy.
  const bool clicks = names.contains("auc");
  for (const char* usual : {clicks ? "loss" : "accuracy", clicks ? "auc" : "loss"}) {
    if (names.erase(usual) != 0)
      metrics.push_back({{"name", usual}, {"more_is_better", more_is_better(usual)}});
  }
  for (const std::string& name : names)
    metrics.push_back({{"name", name}, {"more_is_better", more_is_better(name)}});
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
                         {"sd", rounded(sample.deviation(), 4)}});
      }
      if (methods.size() > 1) winners.push_back(winner(place, metric, methods));
    }
  }
  Json baselines = Json::array();
  for (const auto& [task, samples] : dense) {
    for (const auto& [metric, sample] : samples) {
      baselines.push_back({{"task", task},
                           {"metric", metric},
                           {"n", sample.values.size()},
                           {"mean", rounded(sample.mean(), 6)},
                           {"sd", rounded(sample.deviation(), 4)}});
    }
  }
  return {{"metrics", metrics}, {"cells", cells}, {"dense", baselines}, {"winners", winners}};
}

}  // namespace hewn::report
