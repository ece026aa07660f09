#pragma once

#include <cstdint>
#include <vector>

#include "hewn/refit/layers.h"

namespace hewn::refit {

/// A row of blocks, and what its leaving costs.
struct Leaving {
  int64_t row = 0;
  double cost = 0;
};

/// Rows of blocks of one column in the order in which they leave it, the cheapest first with the others
/// fitted anew. `inverse` is that of the quadratic's matrix, `weight` where it is least; blocks that are not
/// `present` leave before all others and are not listed.
std::vector<Leaving> eliminate(const Matrix& inverse, Matrix weight, int64_t block_rows,
                               const std::vector<uint8_t>& present);

}  // namespace hewn::refit
