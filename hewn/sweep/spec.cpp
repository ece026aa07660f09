#include "hewn/sweep/spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/core/text.h"
#include "hewn/results/metric.h"
#include "hewn/sweep/layout.h"
#include "hewn/sweep/sections.h"

namespace hewn::sweep {
namespace {

constexpr const char* kCompared = "method";  // named variants are further values of this axis

/// Options that the sweep gives by itself, and where the user says it instead.
constexpr std::array<std::pair<const char*, const char*>, 4> kReserved = {
    {{"out", "runs lie in the folder of the sweep (out)"},
     {"threads", "give threads in [sweep]"},
     {"compare-dense", "add \"dense\" to method in [axes]"},
     {"no-compare", "runs of a sweep train no dense model beside them"}}};

constexpr int64_t kMostWorkers = 1024;

/// 0.9 and 0.90 are one value.
bool same_value(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && stop == text.data() + text.size() ? std::optional(value) : std::nullopt;
  };
  return a == b || (number(a) && number(a) == number(b));
}

class Builder {
 public:
  Builder(const SweepFile& file, const TrainRules& rules) : rules_(rules) {
    spec_.path = file.path;
    spec_.name = file.name;
    spec_.size = file.size;
  }

  Spec build(const std::vector<Section>& sections, const Options& given) {
    if (sections.empty()) throw FormatError(spec_.path, "says nothing to train: expected [train] or [axes]");
    for (const Section& section : sections) add(section);
    for (const Axis& axis : spec_.axes) {
      if (spec_.fixed.contains(axis.key)) {
        reject_line(axis.line, str(axis.key, ": is an axis and fixed in [train] as well"));
      }
    }
    // Variants join the compared axis after it is complete, wherever they stand in the file.
    join_variants();
    override_with(given);
    for (const Section* section : excludes_) add_exclusion(*section);
    for (const Axis& axis : spec_.axes) check_axis(axis);
    lay_out(spec_, layout_);
    return std::move(spec_);
  }

 private:
  void add(const Section& section) {
    static const std::vector<std::string> kNames = {"train", "axes", "variant", "exclude", "sweep", "size"};
    const std::string& name = section.name;
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      reject_line(section.line,
                  str("unknown section [", name, "]", did_you_mean(name, kNames), "; known: ", join(kNames)));
    }
    if (name == "size") reject_line(section.line, "expected [size.NAME]");
    if (section.label.empty() == (name == "variant")) {
      reject_line(section.line, name == "variant" ? "expected [variant.NAME]" : str("expected [", name, "]"));
    }
    if (section.repeated != (name == "exclude")) {
      reject_line(section.line, name == "exclude" ? "expected [[exclude]]" : "expected single brackets");
    }
    if (name == "train") add_fixed(section);
    if (name == "axes") add_axes(section);
    if (name == "variant") add_variant(section);
    if (name == "exclude") excludes_.push_back(&section);
    if (name == "sweep") add_options(section);
  }

  void check_key(const std::string& key, const Line& line) const {
    const auto known = [&](const std::vector<std::string>& keys) {
      return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    if (!known(rules_.keys) && !known(rules_.old_keys)) {
      reject_line(line, str("unknown option \"", key, "\" of hewn train", did_you_mean(key, rules_.keys)));
    }
    for (const auto& [reserved, instead] : kReserved) {
      if (key == reserved) reject_line(line, str(key, ": ", instead));
    }
  }

  void add_fixed(const Section& section) {
    for (const Entry& entry : section.entries) {
      check_key(entry.key, entry.value.line);
      spec_.lines[entry.key] = entry.value.line;
      if (entry.key == "device") {
        spec_.options.device = entry.value.text();
        continue;
      }
      spec_.fixed[entry.key] = entry.value.text();
    }
  }

  void add_axes(const Section& section) {
    for (const auto& [key, value] : section.entries) {
      check_key(key, value.line);
      if (key == "device") reject_line(value.line, "device: give it in [train] or on the command line");
      if (!value.list || value.items.empty()) {
        reject_line(value.line, str(key, ": expected a list such as [1, 2], got \"", value.text(), "\""));
      }
      Axis axis{key, {}, value.line};
      for (const std::string& item : value.items) axis.values.push_back({item, {{key, item}}, value.line});
      spec_.axes.push_back(std::move(axis));
    }
  }

  void add_variant(const Section& section) {
    AxisValue variant{section.label, {}, section.line};
    for (const Entry& entry : section.entries) {
      check_key(entry.key, entry.value.line);
      if (entry.key == "device" || entry.key == "seed") {
        reject_line(entry.value.line, str(entry.key, ": cannot differ between variants"));
      }
      variant.options[entry.key] = entry.value.text();
    }
    variants_.push_back(std::move(variant));
  }

  void join_variants() {
    if (variants_.empty()) return;
    if (spec_.find_axis(kCompared) == nullptr) {
      spec_.axes.insert(spec_.axes.begin(), {kCompared, {}, variants_.front().line});
    }
    for (Axis& axis : spec_.axes) {
      for (const AxisValue& variant : variants_) {
        if (axis.key == kCompared) {
          axis.values.push_back(variant);
        } else if (variant.options.contains(axis.key)) {
          reject_line(variant.line,
                      str("variant \"", variant.name, "\" sets ", axis.key, ", which is an axis"));
        }
      }
    }
  }

  void check_axis(const Axis& axis) const {
    for (size_t i = 0; i < axis.values.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (same_value(axis.values[i].name, axis.values[j].name)) {
          reject_line(axis.values[i].line, str(axis.key, ": \"", axis.values[i].name, "\" is there twice"));
        }
      }
    }
  }

  void add_exclusion(const Section& section) {
    Exclusion exclusion;
    if (section.entries.empty()) reject_line(section.line, "[[exclude]]: expected values of axes");
    for (const auto& [key, value] : section.entries) {
      const Axis* axis = spec_.find_axis(key);
      if (axis == nullptr) reject_line(value.line, str("exclude: \"", key, "\" is not an axis"));
      for (const std::string& item : value.items) {
        const bool known = std::any_of(axis->values.begin(), axis->values.end(),
                                       [&](const AxisValue& v) { return v.name == item; });
        if (!known) reject_line(value.line, str("exclude: ", key, " has no value \"", item, "\""));
      }
      if (value.items.empty()) reject_line(value.line, str("exclude: ", key, ": expected a value or more"));
      exclusion[key] = value.items;
    }
    spec_.exclusions.push_back(std::move(exclusion));
  }

  void add_options(const Section& section) {
    OptionTable table;
    SweepOptions& s = spec_.options;
    table.add("workers", s.workers, "");
    table.add("threads", s.threads, "");
    table.add("metric", s.metric, "");
    std::string rows;
    std::string columns;
    table.add("rows", rows, "");
    table.add("columns", columns, "");
    table.add("compare", s.compare, "");
    table.add("baseline", s.baseline, "");
    const std::vector<std::string> known = table.keys();
    for (const auto& [key, value] : section.entries) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        reject_line(value.line, str("unknown key \"", key, "\" in [sweep]", did_you_mean(key, known),
                                    "; known: ", join(known)));
      }
      try {
        table.find(key, spec_.path).parse(value.text());
        if (key == "metric") results::larger_is_better(s.metric);
      } catch (const Error& error) {
        reject_line(value.line, error.what());
      }
      layout_[key] = value;
    }
    if (layout_.contains("rows")) s.rows = layout_["rows"].items;
    if (layout_.contains("columns")) s.columns = layout_["columns"].items;
    if (s.workers < 1 || s.workers > kMostWorkers) {
      reject_line(layout_["workers"].line, str("workers: expected 1 to ", kMostWorkers, ", got ", s.workers));
    }
    if (s.threads < 0)
      reject_line(layout_["threads"].line, str("threads: expected 0 or more, got ", s.threads));
  }

  void override_with(const Options& given) {
    for (const auto& [key, text] : given) {
      if (key == "workers") {
        parse_value("workers", text, spec_.options.workers);
      } else if (key == "threads") {
        parse_value("threads", text, spec_.options.threads);
      } else if (key == "device") {
        spec_.options.device = text;
        spec_.lines.erase(key);
      } else {
        if (spec_.find_axis(key) != nullptr) throw Error(str("--", key, ": is an axis of ", spec_.path));
        for (const AxisValue& variant : variants_) {
          if (!variant.options.contains(key)) continue;
          throw Error(str("--", key, ": variant \"", variant.name, "\" of ", spec_.path, " sets it already"));
        }
        spec_.fixed[key] = text;
        spec_.lines.erase(key);
      }
    }
    const SweepOptions& s = spec_.options;
    if (s.workers < 1 || s.workers > kMostWorkers) {
      throw Error(str("workers: expected 1 to ", kMostWorkers, ", got ", s.workers));
    }
    if (s.threads < 0) throw Error(str("threads: expected 0 or more, got ", s.threads));
  }

  const TrainRules& rules_;
  Spec spec_;
  std::vector<AxisValue> variants_;
  std::vector<const Section*> excludes_;
  std::map<std::string, Value> layout_;  // the entries of [sweep]
};

}  // namespace

const Axis* Spec::find_axis(const std::string& key) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.key == key; });
  return found == axes.end() ? nullptr : &*found;
}

Spec read_spec(const SweepFile& file, const Options& given, const TrainRules& rules) {
  return Builder(file, rules).build(file.sections, given);
}

}  // namespace hewn::sweep
