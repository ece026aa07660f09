#pragma once

#include "hewn/convex/select.h"

namespace hewn::convex {

/// Groups that the options ask for, with their weights. Throws Error naming the option that does not fit.
struct NamedGroups {
  Groups groups;
  std::vector<std::string> names;
};
NamedGroups named_groups(const Dataset& data, const SelectOptions& options);

}  // namespace hewn::convex
