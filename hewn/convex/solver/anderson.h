#pragma once

#include <deque>
#include <optional>

#include "hewn/convex/types.h"

namespace hewn::convex {

/// Anderson extrapolation: of the last points of a fixed-point iteration, the affine combination whose steps
/// cancel best. `carried` is anything affine in the point, combined alongside.
class Anderson {
 public:
  explicit Anderson(int memory) : memory_(memory) {}

  struct Point {
    Vector x;
    Matrix carried;
  };

  void clear() { points_.clear(); }
  /// Gives an extrapolated point once `memory` steps were seen, then forgets them.
  std::optional<Point> push(Vector x, Matrix carried);

 private:
  int memory_;
  std::deque<Point> points_;
};

}  // namespace hewn::convex
