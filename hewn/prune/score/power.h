#pragma once

#include "hewn/prune/score/score.h"

namespace hewn::prune {

/// Makes the leaf V = U norm(U)^((1-alpha)/alpha), so that norm(V)^(alpha-1) V is the U that it held. A block
/// of zeros would be a dead point; its factor is left at 1 and it stays zero, as it would in any network.
/// Throws Error for an alpha of 1 or less.
void lift_to_power(const ScoredWeight& weight, double alpha);

}  // namespace hewn::prune
