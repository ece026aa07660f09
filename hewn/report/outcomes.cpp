#include "hewn/report/outcomes.h"

#include <algorithm>
#include <map>
#include <set>

#include "hewn/core/error.h"
#include "hewn/results/metric.h"
#include "hewn/run/config.h"
#include "hewn/run/method_name.h"
#include "hewn/run/options.h"

namespace hewn::report {
namespace {

namespace fs = std::filesystem;

/// A finished run or the dense one beside it.
struct Entry {
  std::string method;
  Json options;
  Outcome outcome;  // without task and method, which depend on the others
};

/// Keys that set runs of one method apart: not those that the table has columns for, nor those that change
/// nothing in the weights.
bool sets_apart(const std::string& key, bool dense) {
  static const std::set<std::string> kOther = {"seed",          "out",       "block",
                                               "sparsity",      "data",      "model",
                                               "method",        "log-every", "sparse-execution",
                                               "compare-dense", "eval-every"};
  return !kOther.contains(key) && !run::may_change_on_resume(key) && !(dense && run::only_prunes(key));
}

/// Equal for equal values, however they were written.
std::string text_of(const Json& value) {
  if (value.is_number()) return str(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string option(const Entry& entry, const std::string& key) {
  return text_of(entry.options.value(key, Json()));
}

/// What a name gets for an option: switches speak for themselves, and so does what was not given.
std::string told_apart(const std::string& key, const std::string& value) {
  if (value == "false" || value.empty()) return "";
  return value == "true" ? " " + key : str(" ", key, " ", value);
}

/// An entry's method and task, as one key.
std::string kind_of(const Entry& entry) {
  return entry.method + "\n" + option(entry, "data") + "\n" + option(entry, "model");
}

std::vector<Entry> entries_of(const RunView& run) {
  const Json& summary = run.summary();
  const Json& options = run.config().at("options");
  Outcome one;
  one.block = summary.value("block", text_of(options.value("block", Json())));
  one.sparsity = summary.value("sparsity", 0.0);
  one.seed = summary.value("seed", options.value("seed", int64_t{0}));
  one.metrics = results::numbers_of(summary.value("metrics", Json()));
  const Json named = run.method();
  const std::string method = named.is_null() ? "" : named.get<std::string>();
  one.dense = run::names_dense(method);
  std::vector<Entry> out = {{method, options, one}};
  const run::Folder beside = run.folder().dense();
  one.metrics = results::numbers_of(summary.value("dense_metrics", Json()));
  if (one.metrics.empty() || !beside.started()) return out;
  one.dense = true;
  out.push_back({"dense", run::read_config(beside).options_json(), one});
  return out;
}

/// Options in which entries of one kind differ.
std::map<std::string, std::set<std::string>> varied(const std::vector<Entry>& entries) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> seen;
  for (const Entry& entry : entries) {
    for (const auto& [key, value] : entry.options.items()) {
      if (sets_apart(key, entry.outcome.dense)) seen[kind_of(entry)][key].insert(text_of(value));
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

}  // namespace

std::vector<run::Folder> find_runs(const std::vector<std::string>& paths) {
  std::vector<run::Folder> runs;
  std::set<fs::path> known;
  const auto add = [&](const fs::path& path) {
    if (known.insert(fs::canonical(path)).second) runs.push_back({path});
  };
  for (const std::string& text : paths) {
    const fs::path path = text;
    if (!fs::is_directory(path)) throw Error(str(text, ": no such folder"));
    if (run::Folder{path}.started()) {
      add(path);
      continue;
    }
    const fs::path inside = fs::is_directory(path / "runs") ? path / "runs" : path;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(inside)) {
      if (run::Folder{entry.path()}.started()) found.push_back(entry.path());
    }
    if (found.empty()) throw Error(str(text, ": is not a run folder (no config.json), and holds none"));
    std::sort(found.begin(), found.end());
    for (const fs::path& one : found) add(one);
  }
  return runs;
}

int64_t count_failed(const std::vector<std::string>& paths) {
  std::set<fs::path> failed;
  for (const fs::path path : paths) {
    if (!fs::is_directory(path / "runs") || !fs::is_directory(path / "failed")) continue;
    for (const auto& entry : fs::directory_iterator(path / "failed"))
      failed.insert(fs::canonical(entry.path()));
  }
  return static_cast<int64_t>(failed.size());
}

std::vector<Outcome> outcomes(const std::vector<RunView>& runs) {
  std::vector<Entry> entries;
  for (const RunView& run : runs) {
    if (run.status() != Status::kFinished) continue;
    try {
      for (Entry& entry : entries_of(run)) entries.push_back(std::move(entry));
    } catch (const Json::exception& problem) {
      throw FormatError(run.folder().path.string(),
                        str("config.json or summary.json is damaged (", problem.what(), ")"));
    }
  }
  const auto differing = varied(entries);
  std::vector<Outcome> out;
  for (const Entry& entry : entries) {
    Outcome one = entry.outcome;
    one.task = str(option(entry, "data"), " · ", option(entry, "model"));
    one.method = entry.method;
    if (const auto keys = differing.find(kind_of(entry)); keys != differing.end()) {
      for (const std::string& key : keys->second) one.method += told_apart(key, option(entry, key));
    }
    if (one.dense) one.sparsity = 0;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace hewn::report
