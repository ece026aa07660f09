#pragma once

#include "hewn/kernels/int8/byte_matrix.h"

namespace hewn::kernels::reference {

void multiply_matrix_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                           int64_t end);
void multiply_matrix_words_of_one(const ByteProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
