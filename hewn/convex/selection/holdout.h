#pragma once

#include "hewn/convex/select.h"

namespace hewn::convex {

/// Takes a share of the samples, chosen by the seed, out of the problem by weight 0; gives what they weighed.
/// Throws Error where the share leaves none or all out.
Vector leave_out(Problem& problem, double share, uint64_t seed);
/// Refits some groups and measures them on the samples that were left out.
HoldoutScore score_of(const Problem& problem, const Vector& outside, const std::vector<Index>& groups);

}  // namespace hewn::convex
