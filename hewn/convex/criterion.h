#pragma once

#include <string>

#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// What a fit costs: how badly it explains the samples, and how much it needed for that. Smaller is better.
enum class Criterion {
  kAic,   // -2 log-likelihood + 2 coefficients
  kBic,   // ... + coefficients log n
  kEbic,  // BIC + 2 log of the number of sets with as many groups
  kGic,   // ... + coefficients log(groups) log(log n)
};
/// "aic", "bic", "ebic" or "gic". Throws Error for another name.
Criterion find_criterion(const std::string& name);

/// Of a solution to the problem. The variance of a gaussian response is taken from the fit.
double criterion_of(Criterion criterion, const Problem& problem, const Solution& solution);

}  // namespace hewn::convex
