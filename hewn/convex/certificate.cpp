#include "hewn/convex/certificate.h"

#include <algorithm>
#include <cmath>

namespace hewn::convex {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCertified:
      return "certified";
    case Verdict::kStationary:
      return "stationary";
    case Verdict::kTie:
      return "tie";
    default:
      return "none";
  }
}

double dual_bound(const Problem& problem, const Vector& weights, const Matrix& residual,
                  const Vector& correlation, double lambda) {
  const Groups& groups = problem.groups;
  double scale = 1;
  double conjugate = 0;
  for (Index g = 0; g < groups.count(); ++g) {
    const double excess = correlation[g] - lambda * groups.weight(g);
    if (excess <= 0) continue;
    if (problem.ridge > 0) {
      conjugate += excess * excess / (2 * problem.ridge);
    } else if (groups.weight(g) > 0) {
      scale = std::min(scale, lambda * groups.weight(g) / correlation[g]);
    }
  }
  return problem.loss->dual(problem.y, problem.offset, scale * residual, weights) - conjugate;
}

double dual_bound(const Problem& problem, const Vector& weights, const Matrix& residual,
                  const Vector& correlation, const PenaltyAt& at) {
  const Groups& groups = problem.groups;
  double scale = 1;
  double conjugate = 0;
  for (Index g = 0; g < groups.count(); ++g) {
    const SparseGroup own = at.penalty.of_group(groups, g, at.lambda);
    const auto pull = correlation.segment(groups.start(g), groups.size(g));
    if (problem.ridge > 0) {
      const double excess = std::max(0.0, shrunk_norm(pull, own.single) - own.norm);
      conjugate += excess * excess / (2 * problem.ridge);
    } else if (groups.weight(g) > 0) {
      scale = std::min(scale, own.withstands(pull));
    }
  }
  return problem.loss->dual(problem.y, problem.offset, scale * residual, weights) - conjugate;
}

}  // namespace hewn::convex
