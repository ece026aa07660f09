#include "hewn/convex/fit/composed.h"

#include <algorithm>

namespace hewn::convex {

Follower::Follower(const Problem& problem, const Penalty& penalty, const Options& options)
    : penalty_(penalty), own_(std::make_unique<Fitter>(problem, penalty, options)) {
  if (penalty.form() == Form::kComposed && !penalty.is_group_lasso()) {
    lasso_ = std::make_unique<Fitter>(problem, Penalty(), options);
  }
}

Solution Follower::fit(double lambda) {
  if (lasso_ == nullptr) return own_->fit(lambda);
  const Solution lasso = lasso_->fit(lambda);
  const double bound = lasso_->lower_bound(lambda);
  Index penalised = 0;
  for (const Index g : lasso.support) penalised += own_->problem().groups.weight(g) > 0 ? 1 : 0;
  if (penalised <= 1) {
    own_->start_from(lasso_->beta());
    return lasso;
  }
  // Local minima abound: from where the path is, and from the group LASSO's solution.
  Solution best = own_->fit(lambda);
  const Vector kept = own_->beta();
  own_->start_from(lasso_->beta());
  const Solution other = own_->fit(lambda);
  if (best.objective <= other.objective) {
    own_->start_from(kept);
  } else {
    best = other;
  }
  best.certificate.gap = std::max(0.0, std::min(best.certificate.gap, best.objective - bound));
  if (best.converged && best.certificate.gap <= kCertifiedGap * own_->null_objective()) {
    best.certificate.verdict = Verdict::kCertified;
  }
  return best;
}

}  // namespace hewn::convex
