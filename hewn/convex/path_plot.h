#pragma once

#include <string>
#include <vector>

#include "hewn/convex/path.h"

namespace hewn::convex {

/// A picture of a path: each group's coefficient norm against lambda, the largest ones named. `names` has one
/// name per group; `chosen` marks a lambda by its number, below 0: none.
std::string path_svg(const Path& path, const Groups& groups, const std::vector<std::string>& names,
                     int chosen);

}  // namespace hewn::convex
