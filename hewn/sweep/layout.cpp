#include "hewn/sweep/layout.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::sweep {
namespace {

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void lay_out(Spec& spec, const std::map<std::string, Value>& entries) {
  SweepOptions& s = spec.options;
  std::vector<std::string> keys;
  for (const Axis& axis : spec.axes) {
    if (axis.key != kSeed) keys.push_back(axis.key);
  }
  const auto line = [&](const char* key) { return entries.at(key).line; };
  for (const char* which : {"rows", "columns", "compare"}) {
    if (!entries.contains(which)) continue;
    const std::vector<std::string>& items = entries.at(which).items;
    if (std::string_view(which) == "compare" && items.size() != 1) {
      reject_line(line(which), str("compare: expected one axis, got ", items.size()));
    }
    for (const std::string& key : items) {
      if (std::count(items.begin(), items.end(), key) > 1) {
        reject_line(line(which), str(which, ": \"", key, "\" is there twice"));
      }
      if (holds(keys, key)) continue;
      reject_line(line(which), str(which, ": \"", key, "\" is not an axis", did_you_mean(key, keys),
                                   "; axes without the seed: ", join(keys)));
    }
  }
  if (s.compare.empty() && !keys.empty()) s.compare = holds(keys, "method") ? "method" : keys.front();
  if (!entries.contains("columns") && !s.compare.empty() && !holds(s.rows, s.compare))
    s.columns = {s.compare};
  if (!entries.contains("rows")) {
    for (const std::string& key : keys) {
      if (!holds(s.columns, key)) s.rows.push_back(key);
    }
  }
  for (const std::string& key : s.rows) {
    if (holds(s.columns, key)) {
      reject_line(line(entries.contains("rows") ? "rows" : "columns"), str(key, " is in rows and columns"));
    }
  }
  if (s.baseline.empty()) return;
  const Axis* axis = spec.find_axis(s.compare);
  std::vector<std::string> names;
  for (const AxisValue& value : axis == nullptr ? std::vector<AxisValue>{} : axis->values) {
    names.push_back(value.name);
  }
  if (!holds(names, s.baseline)) {
    reject_line(line("baseline"), str("baseline: ", s.compare, " has no value \"", s.baseline, "\"",
                                      did_you_mean(s.baseline, names), "; known: ", join(names)));
  }
}

std::vector<std::string> split_axes(const Spec& spec) {
  std::vector<std::string> out;
  for (const Axis& axis : spec.axes) {
    if (axis.key != kSeed && !holds(spec.options.rows, axis.key) && !holds(spec.options.columns, axis.key)) {
      out.push_back(axis.key);
    }
  }
  return out;
}

}  // namespace hewn::sweep
