#include "hewn/sweep/results.h"

#include <algorithm>
#include <map>

#include "hewn/core/error.h"
#include "hewn/results/metric.h"
#include "hewn/sweep/layout.h"

namespace hewn::sweep {
namespace {

RunResult result_of(const Run& run, const Folder& folder, const std::string& metric) {
  RunResult out;
  out.state = folder.state(run.name);
  if (out.state == State::kFailed) out.error = folder.failure(run.name);
  if (out.state != State::kFinished) return out;
  out.summary = folder.summary(run.name);
  const std::string path = (folder.run(run.name) / "summary.json").string();
  const Json metrics = out.summary.value("metrics", Json::object());
  if (metrics.is_object() && metrics.contains(metric) && metrics[metric].is_null()) {
    out.error = str("its ", metric, " is not a finite number");
    return out;
  }
  const std::map<std::string, double> numbers = results::numbers_of(metrics);
  if (!numbers.contains(metric)) {
    throw FormatError(path, str("has no number \"", metric, "\" among its metrics"));
  }
  out.value = numbers.at(metric);
  return out;
}

/// The value of every point that has one.
using Values = std::map<Point, double>;

std::optional<Comparison> compare(const Spec& spec, const Values& values, size_t a, size_t b,
                                  std::optional<std::pair<size_t, size_t>> where) {
  const size_t axis = axis_number(spec, spec.options.compare);
  std::vector<std::pair<double, double>> pairs;
  for (const auto& [point, value] : values) {
    if (point[axis] != a || (where && point[where->first] != where->second)) continue;
    Point other = point;
    other[axis] = b;
    if (const auto found = values.find(other); found != values.end())
      pairs.emplace_back(value, found->second);
  }
  if (pairs.empty()) return std::nullopt;
  return Comparison{a, b, where, results::pair_up(spec.options.metric, pairs)};
}

/// Every value of the compared axis with every other, over everything and then axis by axis.
void compare_all(const Spec& spec, const Values& values, Results& results) {
  const size_t axis = axis_number(spec, spec.options.compare);
  if (axis == spec.axes.size()) return;
  std::vector<std::optional<std::pair<size_t, size_t>>> parts = {std::nullopt};
  for (size_t other = 0; other < spec.axes.size(); ++other) {
    if (other == axis || spec.axes[other].key == kSeed || spec.axes[other].values.size() < 2) continue;
    for (size_t v = 0; v < spec.axes[other].values.size(); ++v) parts.push_back(std::pair(other, v));
  }
  for (const auto& where : parts) {
    for (size_t b = 0; b < spec.axes[axis].values.size(); ++b) {
      for (size_t a = b + 1; a < spec.axes[axis].values.size(); ++a) {
        if (const auto one = compare(spec, values, a, b, where)) results.comparisons.push_back(*one);
      }
    }
  }
}

/// Who wins where. The dense model beside pruned ones competes with none of them.
void judge_all(const Spec& spec, Results& results) {
  const size_t axis = axis_number(spec, spec.options.compare);
  if (axis == spec.axes.size()) return;
  std::map<Point, std::vector<size_t>> rivals;
  for (size_t i = 0; i < results.cells.size(); ++i) {
    const Cell& cell = results.cells[i];
    if (cell.shared || cell.sample.empty()) continue;
    Point point = cell.point;
    point[axis] = 0;
    rivals[point].push_back(i);
  }
  for (const auto& [point, cells] : rivals) {
    std::vector<results::Sample> samples;
    for (const size_t number : cells) samples.push_back(results.cells[number].sample);
    const results::Standing standing = results::judge(results.metric, samples);
    for (const size_t number : standing.best) results.cells[cells[number]].best = true;
    results.competitions.push_back({point, cells, standing});
  }
}

}  // namespace

std::optional<size_t> Competition::winner() const {
  const std::optional<size_t> number = standing.winner();
  return number ? std::optional(cells[*number]) : std::nullopt;
}

int64_t Results::count(State state) const {
  return std::count_if(runs.begin(), runs.end(), [&](const RunResult& r) { return r.state == state; });
}

const Cell* Results::find(const Point& point) const {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [&](const Cell& c) { return c.point == point; });
  return found == cells.end() ? nullptr : &*found;
}

size_t axis_number(const Spec& spec, const std::string& key) {
  size_t number = 0;
  while (number < spec.axes.size() && spec.axes[number].key != key) ++number;
  return number;
}

Results collect(const Spec& spec, const std::vector<Run>& runs, const Folder& folder) {
  Results results;
  results.metric = spec.options.metric;
  results.larger = results::larger_is_better(results.metric);
  const size_t seed = axis_number(spec, kSeed);
  Values values;
  std::map<Point, size_t> numbers;
  for (const Run& run : runs) {
    const RunResult result = result_of(run, folder, results.metric);
    for (const Point& point : run.points) {
      Point cell = point;
      if (seed < cell.size()) cell[seed] = 0;
      const auto [found, fresh] = numbers.emplace(cell, results.cells.size());
      if (fresh) results.cells.push_back({cell, {}, results.runs.size(), run.shared, false});
      if (!result.value) continue;
      const size_t number = seed < point.size() ? point[seed] : 0;
      results.cells[found->second].sample.add(static_cast<int64_t>(number), *result.value);
      values[point] = *result.value;
    }
    results.runs.push_back(result);
  }
  judge_all(spec, results);
  compare_all(spec, values, results);
  return results;
}

}  // namespace hewn::sweep
