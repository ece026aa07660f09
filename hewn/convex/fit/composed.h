#pragma once

#include <memory>

#include "hewn/convex/fit/condensed.h"
#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/fit/starts.h"

namespace hewn::convex {

/// A sequence of fits at falling lambdas with any penalty. Penalties with many local minima are fitted from
/// where the last fit ended, from the group LASSO's solution, from a set that matching pursuit chooses and
/// from zero; the best is kept. For composed penalties the group LASSO says more: where it selects at most
/// one group it is the composed minimiser too (Theorem 1), elsewhere its dual bounds how far the best point
/// found can be from the global minimum.
class Follower {
 public:
  Follower(const Problem& problem, const Penalty& penalty, const Options& options);
  Solution fit(double lambda);
  /// Its problem may be a condensed form of the one given.
  const Fitter& fitter() const { return *own_; }
  /// The least lambda at which nothing is selected.
  double tau() const { return own_->own_tau() / options_.mix; }

 private:
  Solution fit_any(double lambda);
  Solution fit_mixed(double lambda);
  Solution fit_from_everywhere(double lambda);

  std::unique_ptr<Condensed> condensed_;  // where there are many samples
  const Problem& problem_;
  Options options_;
  std::unique_ptr<Problem> mixed_;  // with the ridge of the current lambda; elastic nets only
  Penalty penalty_;
  std::unique_ptr<Fitter> own_;
  std::unique_ptr<Fitter> lasso_;           // penalties with local minima only
  std::unique_ptr<PursuitStarts> pursuit_;  // made when first needed
};

}  // namespace hewn::convex
