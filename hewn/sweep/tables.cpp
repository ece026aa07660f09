#include "hewn/sweep/tables.h"

#include <array>
#include <set>

#include "hewn/core/files.h"
#include "hewn/sweep/layout.h"

namespace hewn::sweep {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// Name of the value on each axis; nothing where the run stands for several.
std::vector<std::string> place_of(const Spec& spec, const Run& run) {
  std::vector<std::string> out;
  for (size_t a = 0; a < spec.axes.size(); ++a) {
    std::set<size_t> numbers;
    for (const Point& point : run.points) numbers.insert(point[a]);
    const std::string& key = spec.axes[a].key;
    const bool depends = key == "method" || run.options.contains(key);
    out.push_back(depends && numbers.size() == 1 ? spec.axes[a].values[*numbers.begin()].name : "");
  }
  return out;
}

Json names_at(const Spec& spec, const Point& point) {
  Json out = Json::object();
  for (size_t a = 0; a < spec.axes.size(); ++a) {
    if (spec.axes[a].key != kSeed) out[spec.axes[a].key] = spec.axes[a].values[point[a]].name;
  }
  return out;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json runs_json(const Spec& spec, const std::vector<Run>& runs, const Results& results) {
  Json out = Json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunResult& result = results.runs[i];
    Json at = Json::object();
    const std::vector<std::string> place = place_of(spec, runs[i]);
    for (size_t a = 0; a < place.size(); ++a) {
      at[spec.axes[a].key] = place[a].empty() ? Json(nullptr) : Json(place[a]);
    }
    Json run = {
        {"name", runs[i].name}, {"state", name_of(result.state)}, {"at", at}, {"options", runs[i].options}};
    if (result.state == State::kFinished) run["summary"] = result.summary;
    if (result.state == State::kFailed || !result.error.empty()) run["error"] = result.error;
    out.push_back(run);
  }
  return out;
}

Json cells_json(const Spec& spec, const Results& results) {
  Json out = Json::array();
  for (const Cell& cell : results.cells) {
    out.push_back({{"at", names_at(spec, cell.point)},
                   {"shared", cell.shared},
                   {"n", cell.sample.size()},
                   {"mean", cell.sample.empty() ? Json(nullptr) : Json(cell.sample.mean())},
                   {"sd", optional_json(cell.sample.deviation())},
                   {"values", cell.sample.values()}});
  }
  return out;
}

/// Who is best in each cell that several values of the compared axis have results for.
Json winners_json(const Spec& spec, const Results& results) {
  Json out = Json::array();
  for (const Competition& one : results.competitions) {
    const results::Standing& standing = one.standing;
    if (!standing.second) continue;
    const auto name = [&](size_t number) {
      const size_t axis = axis_number(spec, spec.options.compare);
      return spec.axes[axis].values[results.cells[one.cells[number]].point[axis]].name;
    };
    Json at = names_at(spec, one.point);
    at.erase(spec.options.compare);
    out.push_back({{"at", at},
                   {"best", name(standing.best.front())},
                   {"second", name(*standing.second)},
                   {"margin", standing.margin},
                   {"verdict", results::name_of(standing.verdict)}});
  }
  return out;
}

Json comparisons_json(const Spec& spec, const Results& results) {
  Json out = Json::array();
  for (const Comparison& c : results.comparisons) {
    const Axis& axis = *spec.find_axis(spec.options.compare);
    Json where = Json::object();
    if (c.where) {
      const Axis& part = spec.axes[c.where->first];
      where[part.key] = part.values[c.where->second].name;
    }
    out.push_back({{"a", axis.values[c.a].name},
                   {"b", axis.values[c.b].name},
                   {"where", where},
                   {"pairs", c.pairing.pairs()},
                   {"wins", c.pairing.wins},
                   {"losses", c.pairing.losses},
                   {"ties", c.pairing.ties},
                   {"mean_difference", c.pairing.difference},
                   {"p", c.pairing.p}});
  }
  return out;
}

constexpr std::array<const char*, 9> kFromSummary = {
    "realised_sparsity", "kept_blocks",        "blocks", "bytes_dense", "bytes_sparse", "products_dense",
    "products_sparse",   "expected_ms_sparse", "seconds"};

/// Name and content of each.
std::vector<std::pair<const char*, std::string>> table_files(const Spec& spec, const std::vector<Run>& runs,
                                                             const Results& results) {
  return {{"results.csv", csv_table(spec, runs, results)},
          {"table.md", markdown_table(spec, runs, results)},
          {"results.json",
           json_results(spec, runs, results).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"}};
}

}  // namespace

std::string csv_table(const Spec& spec, const std::vector<Run>& runs, const Results& results) {
  std::set<std::string> metrics;
  for (const RunResult& result : results.runs) {
    if (!result.summary.is_object()) continue;
    for (const auto& [name, value] : result.summary["metrics"].items()) metrics.insert(name);
  }
  std::string out = "run,state";
  for (const Axis& axis : spec.axes) out += "," + quoted(axis.key);
  for (const std::string& metric : metrics) out += "," + metric;
  for (const char* key : kFromSummary) out += std::string(",") + key;
  out += ",error\n";
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunResult& result = results.runs[i];
    out += runs[i].name + "," + std::string(name_of(result.state));
    for (const std::string& name : place_of(spec, runs[i])) out += "," + quoted(name);
    const auto number = [](const Json& from, const std::string& key) {
      return from.is_object() && from.contains(key) && from[key].is_number()
                 ? from[key].dump(-1, ' ', false, Json::error_handler_t::replace)
                 : "";
    };
    const Json& summary = result.summary;
    for (const std::string& metric : metrics) {
      out += "," + (summary.is_object() ? number(summary["metrics"], metric) : "");
    }
    for (const char* key : kFromSummary) out += "," + number(summary, key);
    out += "," + quoted(result.error) + "\n";
  }
  return out;
}

Json json_results(const Spec& spec, const std::vector<Run>& runs, const Results& results) {
  const SweepOptions& options = spec.options;
  Json out = {{"file", valid_utf8(spec.path)},
              {"size", spec.size.empty() ? Json(nullptr) : Json(spec.size)},
              {"metric", results.metric},
              {"larger_is_better", results.larger},
              {"compare", options.compare},
              {"baseline", options.baseline.empty() ? Json(nullptr) : Json(options.baseline)},
              {"rows", options.rows},
              {"columns", options.columns},
              {"fixed", spec.fixed}};
  for (const State state : {State::kFinished, State::kFailed, State::kInterrupted, State::kWaiting}) {
    out["counts"][std::string(name_of(state))] = results.count(state);
  }
  out["axes"] = Json::object();
  for (const Axis& axis : spec.axes) {
    for (const AxisValue& value : axis.values) out["axes"][axis.key].push_back(value.name);
  }
  out["runs"] = runs_json(spec, runs, results);
  out["cells"] = cells_json(spec, results);
  out["winners"] = winners_json(spec, results);
  out["comparisons"] = comparisons_json(spec, results);
  return out;
}

void write_tables(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                  const Folder& folder) {
  for (const auto& [name, text] : table_files(spec, runs, results)) {
    write_file_atomically(folder.path / name, text);
  }
}

void complete_tables(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                     const Folder& folder) {
  for (const auto& [name, text] : table_files(spec, runs, results)) {
    const std::filesystem::path path = folder.path / name;
    if (!is_there(path) || read_file(path) != text) write_file_atomically(path, text);
  }
}

}  // namespace hewn::sweep
