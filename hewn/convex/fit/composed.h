#pragma once

#include <memory>

#include "hewn/convex/fit/fitter.h"

namespace hewn::convex {

/// A sequence of fits at falling lambdas with any penalty. For composed penalties it also follows the group
/// LASSO: where that selects at most one group it is the composed minimiser too (Theorem 1), elsewhere its
/// dual bounds how far the best point found can be from the global minimum.
class Follower {
 public:
  Follower(const Problem& problem, const Penalty& penalty, const Options& options);
  Solution fit(double lambda);
  const Fitter& fitter() const { return *own_; }

 private:
  Penalty penalty_;
  std::unique_ptr<Fitter> own_;
  std::unique_ptr<Fitter> lasso_;  // composed penalties only
};

}  // namespace hewn::convex
