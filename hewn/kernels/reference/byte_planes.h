#pragma once

#include "hewn/kernels/int8/byte_planes.h"

namespace hewn::kernels::reference {

void multiply_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);
void multiply_words_of_one(const ByteProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
