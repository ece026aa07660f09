#pragma once

#include "hewn/kernels/bf16/pairs.h"

namespace hewn::kernels::reference {

void to_pairs(const TwoRows& rows, uint32_t* pairs, int64_t count);
void samples_to_pairs(const float* samples, int64_t channels, int64_t count, uint32_t* pairs, int64_t stride);
void from_pairs(const uint32_t* pairs, int64_t lane, float* row, int64_t count);
void max_of_pairs(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count);
void add_up_pairs(const uint32_t* pairs, int64_t count, std::array<double, 2>& sums);

}  // namespace hewn::kernels::reference
