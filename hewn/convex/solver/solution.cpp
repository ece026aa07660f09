#include "hewn/convex/solver/solution.h"

#include <algorithm>

namespace hewn::convex {

Matrix Solution::coefficients(const Groups& groups) const {
  Vector all = Vector::Zero(groups.total());
  Index at = 0;
  for (const Index g : support) {
    all.segment(groups.start(g), groups.size(g)) =
        Eigen::Map<const Vector>(values.data() + at, groups.size(g));
    at += groups.size(g);
  }
  return groups.spread(all);
}

}  // namespace hewn::convex
