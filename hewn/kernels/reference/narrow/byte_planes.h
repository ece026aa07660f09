#pragma once

#include "hewn/kernels/int8/byte_planes.h"

namespace hewn::kernels::reference {

void multiply_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);
void multiply_words_of_one(const ByteProduct& product, int64_t begin, int64_t end);

/// A word of the input, less its zero, times one of weights.
int64_t product_of_words(uint32_t in, uint32_t weight, int64_t in_zero);
/// What a sum becomes in the output.
void finish_byte(const ByteProduct& product, int64_t output, int64_t column, int64_t sum);

}  // namespace hewn::kernels::reference
