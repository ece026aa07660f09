#pragma once

#include <string_view>

#include "hewn/convex/penalty/penalty.h"
#include "hewn/convex/problem.h"

namespace hewn::convex {

/// What is known about a solution.
enum class Verdict {
  kCertified,   // within the stated gap of the global minimum, and the gap is small
  kStationary,  // the optimality conditions hold; nothing bounds the distance to the global minimum tightly
  kTie,         // two groups have the same largest gradient: the choice between them is arbitrary
  kNone,        // not converged
};
std::string_view name_of(Verdict verdict);

struct Certificate {
  Verdict verdict = Verdict::kNone;
  double kkt = 0;  // largest violation of the optimality conditions, relative to lambda times weight
  double gap = 0;  // objective minus a lower bound of the global minimum; infinity where none is known
};

/// A gap below this share of the objective at B = 0 certifies.
inline constexpr double kCertifiedGap = 1e-5;
/// Gradient norms nearer than this, relatively, tie.
inline constexpr double kTieTolerance = 1e-9;

/// The group-LASSO dual at a scaled residual: a lower bound of the group-LASSO minimum and of every composed
/// penalty's at this lambda. `correlation` is the norm of X_g' W residual per group, `squares` and all else
/// in scaled coordinates. The intercept and unpenalised groups must be fitted.
double dual_bound(const Problem& problem, const Vector& weights, const Matrix& residual,
                  const Vector& correlation, double lambda);

/// The same for a penalty with single coefficients; `correlation` is X' W residual itself, group after group.
struct PenaltyAt {
  const Penalty& penalty;
  double lambda;
};
double dual_bound(const Problem& problem, const Vector& weights, const Matrix& residual,
                  const Vector& correlation, const PenaltyAt& at);

}  // namespace hewn::convex
