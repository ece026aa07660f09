#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// Values that can be held in fewer bits from the product that makes them to those that read them.
struct NarrowValues {
  std::set<int32_t> values;
  std::map<int32_t, int32_t> like;  // must be held as another one is
};
/// Of products with these constants.
NarrowValues narrow_values(const Graph& graph, const std::set<int32_t>& weights);

/// What people call the layer of a node.
std::string layer_name(const Graph& graph, const Node& node);
/// Throws Error where one of `keep` is not among the names, and says which there are.
void check_kept(const std::vector<std::string>& keep, const std::vector<std::string>& names);

}  // namespace hewn::flow
