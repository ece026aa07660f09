#pragma once

#include "hewn/convex/problem.h"

namespace hewn::convex {

/// For which lambdas the group LASSO is sure to select the largest gradient's group and no other.
struct SelectionWindow {
  double tau = 0;
  double second = 0;  // second-largest gradient norm over weight
  double lowest = 0;  // one group is selected for every lambda in [lowest, tau); tau where nothing is sure
  Index group = 0;
};
/// lowest = tau - min over j of (tau - tau_j) / (1 + kappa_j), kappa_j = L_1j w_1 / (mu_1 w_j): no group
/// reaches its limit while the first one grows. Sound, not sharp. Losses other than gaussian are strongly
/// convex by ridge alone. All weights must be positive.
SelectionWindow selection_window(const Problem& problem);

/// Extreme eigenvalues of the Hessian over all sets of so many groups; gaussian loss.
struct RestrictedConstants {
  double strong = 0;  // mu
  double smooth = 0;  // L
};
/// By enumeration. Throws Error for more than 15 groups or another loss, where it would be an estimate.
RestrictedConstants restricted_constants(const Problem& problem, Index groups);

/// What is needed for OMPR to come within epsilon of the best set of k groups.
struct OmprBound {
  Index kprime = 0;  // groups to keep; more than there are: the bound says nothing
  Index rounds = 0;
  double smooth = 0;  // L_2
  double strong = 0;  // mu over k + kprime groups; of all of them where the bound says nothing
};
/// kprime >= k ((L_2 / mu)^2 + 1) with mu over k + kprime groups, rounds >= k (L_2 / mu) ln(excess /
/// epsilon), where `excess` is how far the start is from the best set.
OmprBound ompr_bound(const Problem& problem, Index k, double excess, double epsilon);

}  // namespace hewn::convex
