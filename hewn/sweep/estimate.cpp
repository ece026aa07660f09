#include "hewn/sweep/estimate.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/results/statistics.h"
#include "hewn/sweep/layout.h"

namespace hewn::sweep {
namespace {

size_t agreement(const Spec& spec, const Point& a, const Point& b) {
  size_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (spec.axes[i].key != kSeed && a[i] == b[i]) ++equal;
  }
  return equal;
}

/// How long a run takes, from those that took `seconds`.
double expected(const Spec& spec, const std::vector<Run>& runs, const std::map<size_t, double>& seconds,
                size_t number) {
  size_t most = 0;
  std::vector<double> nearest;
  for (const auto& [other, took] : seconds) {
    const size_t equal = agreement(spec, runs[other].points.front(), runs[number].points.front());
    if (equal > most) nearest.clear();
    if (equal >= most) nearest.push_back(took);
    most = std::max(most, equal);
  }
  return results::mean(nearest);
}

}  // namespace

std::optional<double> seconds_left(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                                   const std::map<size_t, double>& running, int64_t workers) {
  std::map<size_t, double> seconds;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Json& summary = results.runs[i].summary;
    if (summary.is_object() && summary.contains("seconds") && summary["seconds"].is_number()) {
      seconds[i] = summary["seconds"].get<double>();
    }
  }
  if (seconds.empty()) return std::nullopt;
  double sum = 0;
  double longest = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const State state = results.runs[i].state;
    if (state == State::kFinished || state == State::kFailed) continue;
    const auto begun = running.find(i);
    const double left =
        std::max(0.0, expected(spec, runs, seconds, i) - (begun == running.end() ? 0 : begun->second));
    sum += left;
    longest = std::max(longest, left);
  }
  return std::max(longest, sum / static_cast<double>(workers));
}

std::string leader(const Spec& spec, const Results& results) {
  const size_t axis = axis_number(spec, spec.options.compare);
  if (axis == spec.axes.size()) return "";
  std::vector<size_t> won(spec.axes[axis].values.size(), 0);
  for (const Competition& one : results.competitions) {
    if (const auto winner = one.winner()) ++won[results.cells[*winner].point[axis]];
  }
  const auto most = std::max_element(won.begin(), won.end());
  if (*most == 0) return "";
  const size_t all = results.competitions.size();
  return str(spec.axes[axis].values[static_cast<size_t>(most - won.begin())].name, " in ", *most, " of ", all,
             all == 1 ? " cell" : " cells");
}

}  // namespace hewn::sweep
