#pragma once

#include <cstdint>

#include "hewn/kernels/bsr.h"

namespace hewn::kernels::reference {

void gather_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* values, int64_t begin, int64_t end);
void scatter_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* values, float* weight,
                    int64_t begin, int64_t end);
void gate_backward(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* grad, float* grad_gate, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
