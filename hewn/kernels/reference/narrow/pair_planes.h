#pragma once

#include "hewn/kernels/bf16/pair_planes.h"

namespace hewn::kernels::reference {

void multiply_pairs(const PairProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);
void multiply_pairs_of_one(const PairProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
