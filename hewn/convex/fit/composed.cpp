#include "hewn/convex/fit/composed.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

constexpr Index kPursued = 12;  // groups of the largest set to start from

/// Concave in the norm: a group may be worse off at a local minimum than elsewhere.
bool has_local_minima(const Penalty& penalty) {
  return !penalty.is_convex() && penalty.scalar().slope_at_zero() > 0;
}

}  // namespace

Follower::Follower(const Problem& problem, const Penalty& penalty, const Options& options)
    : condensed_(condense(problem, options)),
      problem_(condensed_ ? condensed_->problem : problem),
      options_(options),
      penalty_(penalty),
      own_(std::make_unique<Fitter>(problem_, penalty, options)) {
  if (!(options.mix > 0 && options.mix <= 1)) {
    throw Error(str("mix: expected a number above 0 up to 1, got ", options.mix));
  }
  if (options.mix < 1 && !penalty.is_convex()) throw Error("mix: applies to the group LASSO only");
  if (has_local_minima(penalty)) lasso_ = std::make_unique<Fitter>(problem_, Penalty(), options);
}

Solution Follower::fit(double lambda) {
  Solution out = fit_any(lambda);
  if (condensed_) condensed_->restore(out);
  return out;
}

Solution Follower::fit_any(double lambda) {
  if (options_.mix < 1) return fit_mixed(lambda);
  if (lasso_ == nullptr) return own_->fit(lambda);
  // In the units of a gradient, as the group LASSO has it.
  const double plain = own_->own_tau() > 0 ? lambda * (lasso_->tau() / own_->own_tau()) : lambda;
  Solution lasso = lasso_->fit(plain);
  if (penalty_.form() == Form::kSum) return fit_from_everywhere(lambda);
  const double bound = lasso_->lower_bound(lambda);
  Index penalised = 0;
  for (const Index g : lasso.support) penalised += problem_.groups.weight(g) > 0 ? 1 : 0;
  if (penalised <= 1) {
    own_->start_from(lasso_->beta());
    return lasso;
  }
  Solution best = fit_from_everywhere(lambda);
  best.certificate.gap = std::max(0.0, std::min(best.certificate.gap, best.objective - bound));
  if (best.converged && best.certificate.gap <= kCertifiedGap * own_->null_objective()) {
    best.certificate.verdict = Verdict::kCertified;
  }
  return best;
}

Solution Follower::fit_from_everywhere(double lambda) {
  Solution best = own_->fit(lambda);
  Vector kept = own_->beta();
  const auto consider = [&](const Vector& start) {
    own_->start_from(start);
    const Solution other = own_->fit(lambda);
    if (other.converged < best.converged ||
        !(other.objective < best.objective || other.converged > best.converged))
      return;
    best = other;
    kept = own_->beta();
  };
  consider(lasso_->beta());
  if (pursuit_ == nullptr && options_.only.empty())
    pursuit_ = std::make_unique<PursuitStarts>(problem_, kPursued);
  if (pursuit_ != nullptr) {
    const Vector start = pursuit_->best(penalty_, lambda, problem_.groups.weights());
    if (start.size() > 0) consider(start);
  }
  Vector nothing = kept;
  for (Index g = 0; g < problem_.groups.count(); ++g) {
    if (problem_.groups.weight(g) > 0)
      nothing.segment(problem_.groups.start(g), problem_.groups.size(g)).setZero();
  }
  if (nothing != kept) consider(nothing);
  own_->start_from(kept);
  return best;
}

// Every lambda has its own ridge, which curvatures and eigenbases contain: the problem is set up anew, from
// where the last one ended.
Solution Follower::fit_mixed(double lambda) {
  const Vector start = own_->beta();
  auto mixed = std::make_unique<Problem>(problem_);
  mixed->ridge += (1 - options_.mix) * lambda;
  auto fitter = std::make_unique<Fitter>(*mixed, penalty_, options_);
  fitter->start_from(start);
  Solution out = fitter->fit(options_.mix * lambda);
  out.lambda = lambda;
  own_ = std::move(fitter);
  mixed_ = std::move(mixed);
  return out;
}

}  // namespace hewn::convex
