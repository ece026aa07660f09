#pragma once

#include <cstdint>
#include <vector>

#include "hewn/kernels/bsr.h"

namespace hewn::measure {

/// Exactly `keep` blocks of the grid, drawn at random: one byte per block, 1 where it is kept.
std::vector<uint8_t> random_support(const Grid& grid, int64_t keep, uint64_t seed);

/// The pattern of as many random blocks as training would keep at that sparsity.
kernels::BsrPattern random_pattern(const Grid& grid, double sparsity, uint64_t seed);

/// Elements inside the kept blocks over all elements.
double density(const kernels::BsrPattern& pattern);

/// Uniform in [-1, 1); `what` tells one tensor's numbers from another's.
void fill_random(float* values, int64_t count, uint64_t seed, uint64_t what);

}  // namespace hewn::measure
