#include "hewn/convex/selection/named_groups.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/grid.h"
#include "hewn/core/text.h"
#include "hewn/io/csv.h"

namespace hewn::convex {
namespace {

void check_group_options(const Dataset& data, const SelectOptions& options) {
  const int given =
      (options.groups.empty() ? 0 : 1) + (options.group_size > 0 ? 1 : 0) + (options.block.empty() ? 0 : 1);
  if (given > 1) throw Error("groups, group-size and block: give one of them");
  if (options.group_size < 0) throw Error(str("group-size: expected at least 1, got ", options.group_size));
  if (given > 0 && !data.sources.empty()) {
    throw Error("categories: are groups of their own; leave groups, group-size and block out");
  }
}

std::string group_name(const Dataset& data, const std::vector<std::string>& labels, const Part& part) {
  const std::string& first = data.features[to_size(part.features.front())];
  std::string name = labels.empty() ? first : labels[to_size(part.features.front())];
  if (labels.empty() && part.features.size() > 1) name += ".." + data.features[to_size(part.features.back())];
  if (part.outputs < data.problem.y.cols()) {
    name += " x " + data.outputs[to_size(part.first_output)];
    if (part.outputs > 1) name += ".." + data.outputs[to_size(part.first_output + part.outputs - 1)];
  }
  return name;
}

void set_group_weights(Groups& groups, const std::string& rule) {
  if (rule == "sqrt") {
    Vector weights(groups.count());
    for (Index g = 0; g < groups.count(); ++g) weights[g] = std::sqrt(static_cast<double>(groups.size(g)));
    groups.set_weights(weights);
  } else if (rule != "one") {
    throw Error(str("group-weights: expected one or sqrt, got \"", rule, "\""));
  }
}

/// The group of that name, or the one that has the feature of that name.
Index group_named(const Dataset& data, const NamedGroups& named, const std::string& name,
                  const char* option) {
  const auto at = std::find(named.names.begin(), named.names.end(), name);
  if (at != named.names.end()) return at - named.names.begin();
  const auto feature = std::find(data.features.begin(), data.features.end(), name);
  if (feature == data.features.end()) {
    throw Error(
        str(option, ": there is no group or feature \"", name, "\"", did_you_mean(name, named.names)));
  }
  const auto number = static_cast<int>(feature - data.features.begin());
  for (Index g = 0; g < named.groups.count(); ++g) {
    for (const Part& part : named.groups.parts(g)) {
      if (std::binary_search(part.features.begin(), part.features.end(), number)) return g;
    }
  }
  throw Error(str(option, ": no group has \"", name, "\""));
}

/// Multiplies weights by the factors of a file, and takes the penalty of groups that are kept away.
void set_factors(const Dataset& data, const SelectOptions& options, NamedGroups& named) {
  if (!options.penalty_factors.empty()) {
    const std::string& path = options.penalty_factors;
    const io::Table table = io::read_csv(
        path, {io::Header::kNo, ',',
               [](const std::vector<std::string>& names) { return std::vector<bool>(names.size(), true); }});
    if (table.text.size() != 2)
      throw FormatError(path, str("expected lines of group,factor, got ", table.text.size(), " columns"));
    for (std::size_t i = 0; i < table.text[0].size(); ++i) {
      double factor = 0;
      if (!io::parse_number(table.text[1][i], factor) || !(factor >= 0)) {
        throw FormatError(path, str("line ", table.lines[i], ": expected a factor of at least 0, got \"",
                                    table.text[1][i], "\""));
      }
      const Index g = group_named(data, named, table.text[0][i], "penalty-factors");
      named.groups.scale_weight(g, factor);
    }
  }
  for (const std::string& name : options.keep)
    named.groups.set_weight(group_named(data, named, name, "keep"), 0);
  if (!(named.groups.weights().maxCoeff() > 0))
    throw Error("keep and penalty-factors: leave no group to select from");
}

}  // namespace

NamedGroups named_groups(const Dataset& data, const SelectOptions& options) {
  const Index p = data.problem.x->cols();
  const Index k = data.problem.y.cols();
  check_group_options(data, options);
  Groups groups = Groups::features(p, k);
  std::vector<std::string> labels = data.sources;
  if (!labels.empty()) {
    groups = Groups::labels(labels, k);
  } else if (!options.groups.empty()) {
    labels = read_labels(options.groups, p);
    groups = Groups::labels(labels, k);
  } else if (options.group_size > 0) {
    std::vector<Index> sizes;
    for (Index j = 0; j < p; j += options.group_size)
      sizes.push_back(std::min<Index>(options.group_size, p - j));
    groups = Groups::sizes(sizes, k);
  } else if (!options.block.empty()) {
    const BlockShape block = parse_block(options.block);
    groups = Groups::blocks(p, k, block.rows, block.cols);
  }
  std::vector<std::string> names;
  for (Index g = 0; g < groups.count(); ++g)
    names.push_back(group_name(data, labels, groups.parts(g).front()));
  set_group_weights(groups, options.group_weights);
  NamedGroups out{std::move(groups), std::move(names)};
  set_factors(data, options, out);
  return out;
}

}  // namespace hewn::convex
