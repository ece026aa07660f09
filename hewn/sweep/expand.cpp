#include "hewn/sweep/expand.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "hewn/core/error.h"
#include "hewn/sweep/layout.h"
#include "hewn/sweep/sections.h"

namespace hewn::sweep {
namespace {

constexpr size_t kMostPoints = 100'000;

/// A file of a few lines can ask for more runs than there is memory for their names.
void check_count(const Spec& spec) {
  size_t points = 1;
  for (const Axis& axis : spec.axes) {
    if (axis.values.size() > kMostPoints / points)
      throw FormatError(spec.path, str("its axes have more than ", kMostPoints, " combinations"));
    points *= axis.values.size();
  }
}

/// Counts through all combinations, the last axis fastest and the seed slowest: an interrupted sweep has one
/// seed of every cell rather than all seeds of some.
std::vector<Point> all_points(const Spec& spec) {
  check_count(spec);
  std::vector<size_t> order(spec.axes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(), [&](size_t i) { return spec.axes[i].key == kSeed; });
  std::vector<Point> points;
  Point now(spec.axes.size(), 0);
  for (;;) {
    points.push_back(now);
    size_t i = order.size();
    while (i > 0 && ++now[order[i - 1]] == spec.axes[order[i - 1]].values.size()) now[order[--i]] = 0;
    if (i == 0) return points;
  }
}

bool excluded(const Spec& spec, const Point& point) {
  return std::any_of(spec.exclusions.begin(), spec.exclusions.end(), [&](const Exclusion& exclusion) {
    for (size_t a = 0; a < spec.axes.size(); ++a) {
      const auto found = exclusion.find(spec.axes[a].key);
      if (found == exclusion.end()) continue;
      const std::string& name = spec.axes[a].values[point[a]].name;
      if (std::find(found->second.begin(), found->second.end(), name) == found->second.end()) return false;
    }
    return true;
  });
}

Options options_at(const Spec& spec, const Point& point) {
  Options options = spec.fixed;
  for (size_t a = 0; a < spec.axes.size(); ++a) {
    for (const auto& [key, text] : spec.axes[a].values[point[a]].options) options[key] = text;
  }
  return options;
}

bool is_dense(const Options& options) {
  const auto method = options.find("method");
  return method != options.end() && method->second == "dense";
}

/// The options that say nothing of a dense model: those of pruning, and of teaching where no file does that.
std::function<bool(const std::string&)> idle_keys(const Options& dense, const TrainRules& rules) {
  const auto teacher = dense.find("teacher");
  const bool taught = teacher != dense.end() && !teacher->second.empty() && teacher->second != "self-dense";
  return [&rules, taught](const std::string& key) {
    const bool teaches = key == "teacher" || key == "teacher-share" || key == "temperature";
    return rules.only_prunes(key) || (teaches && !taught);
  };
}

/// Whether some method prunes.
bool has_pruned(const Spec& spec) {
  const Axis* methods = spec.find_axis("method");
  return methods != nullptr &&
         std::any_of(methods->values.begin(), methods->values.end(), [&](const AxisValue& value) {
           return !is_dense(value.options.contains("method") ? value.options : spec.fixed);
         });
}

bool is_timed(const Options& options) {
  const auto budget = options.find("budget");
  return budget != options.end() && budget->second.starts_with("ms=");
}

/// Whether some run has a budget of milliseconds: then costs are for such runs, and the others leave them
/// out.
bool has_timed(const Spec& spec) {
  bool timed = is_timed(spec.fixed);
  for (const Axis& axis : spec.axes) {
    for (const AxisValue& value : axis.values) timed = timed || is_timed(value.options);
  }
  return timed;
}

/// A folder of that name must be possible, and inside the folder of the sweep.
void check_name(const Spec& spec, const std::string& name) {
  constexpr size_t kLongest = 200;
  if (name.starts_with('.') || name.size() > kLongest) {
    throw FormatError(spec.path,
                      str("a run would be called \"", name, "\"; expected names of at most ", kLongest,
                          " characters that do not begin with a point: rename the variant"));
  }
}

/// The line that says what an Error complains about: its message begins with the option's name.
[[noreturn]] void reject(const Spec& spec, const Point& point, const std::string& run, const Error& error) {
  const std::string what = error.what();
  const std::string key = what.substr(0, what.find_first_of(": "));
  Line line = spec.lines.contains(key) ? spec.lines.at(key) : Line{};
  for (size_t a = 0; a < spec.axes.size(); ++a) {
    const AxisValue& value = spec.axes[a].values[point[a]];
    if (value.options.contains(key)) line = value.line;
  }
  if (line.number > 0) reject_line(line, what);
  throw FormatError(spec.path, str("run ", run, ": ", what));
}

}  // namespace

std::string name_part(const Axis& axis, size_t value) {
  std::string out = axis.key == "method" ? "" : axis.key;
  for (const char c : axis.values[value].name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '+' || c == '_' ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (plain) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  return out;
}

std::vector<Run> expand(const Spec& spec, const TrainRules& rules) {
  std::vector<Run> runs;
  std::map<std::string, size_t> known;
  for (const Point& point : all_points(spec)) {
    if (excluded(spec, point)) continue;
    Run run{"", options_at(spec, point), {point}, false};
    const bool dense = is_dense(run.options);
    const auto idle = idle_keys(run.options, rules);
    if (dense) {
      run.options.erase("schedule");  // with another one it would be pruned
      run.options.erase("keep-support");
      if (idle("teacher")) run.options.erase("teacher");  // its own dense model
    }
    // It competes with none unless its own training is compared.
    const std::string& compared = spec.options.compare;
    const bool beside = compared == "method" || idle(compared);
    run.shared = dense && beside && has_pruned(spec);
    for (size_t a = 0; a < spec.axes.size(); ++a) {
      const Axis& axis = spec.axes[a];
      if (dense && idle(axis.key)) {
        run.options.erase(axis.key);
        run.shared = beside;
        continue;
      }
      const std::string part = name_part(axis, point[a]);
      run.name += (run.name.empty() || part.empty() ? "" : "-") + part;
    }
    if (!is_timed(run.options) && has_timed(spec)) run.options.erase("costs");
    if (run.name.empty()) run.name = "run";
    check_name(spec, run.name);
    const auto [found, fresh] = known.emplace(run.name, runs.size());
    if (!fresh) {
      Run& same = runs[found->second];
      if (same.options != run.options) {
        throw FormatError(spec.path, str("two different runs would be called ", run.name,
                                         "; they differ only in signs that names leave out"));
      }
      same.points.push_back(point);
      continue;
    }
    try {
      rules.check(run.options);
    } catch (const Error& error) {
      reject(spec, point, run.name, error);
    }
    runs.push_back(std::move(run));
  }
  if (runs.empty()) throw FormatError(spec.path, "no run is left: every combination is excluded");
  return runs;
}

}  // namespace hewn::sweep
