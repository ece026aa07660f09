#include "hewn/convex/selection/named_groups.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/grid.h"

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
  return {std::move(groups), std::move(names)};
}

}  // namespace hewn::convex
