#pragma once

#include <cstdint>
#include <span>

#include "hewn/kernels/multiply.h"

/// One panel's products, tile by tile. What they add up to is in linear.h and conv.h.
namespace hewn::kernels::reference {

void multiply(const Packed& weight, const float* in, float* out, int64_t columns,
              std::span<const Position> positions, const Epilogue& epilogue, int64_t begin, int64_t end);
void multiply_one(const Packed& weight, const float* in, float* out, const Epilogue& epilogue, int64_t begin,
                  int64_t end);
void grad_weight(const BsrPattern& pattern, const float* x_columns, const float* dy_columns, int64_t batch,
                 bool accumulate, float* grad, int64_t begin, int64_t end);
void pack_block_columns(const float* samples, int64_t batch, int64_t features, int64_t stride, int64_t block,
                        int64_t size, float* columns, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
