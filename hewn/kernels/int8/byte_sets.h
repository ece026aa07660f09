#pragma once

#include "hewn/kernels/int8/byte_tile.h"

// The instruction sets that this build has for bytes, a file each. Whether the processor has them is asked
// before they are used.

namespace hewn::kernels {

#if defined(__x86_64__)
bool has_bytes_avx512();
ByteMachine bytes_avx512();
ByteMachine bytes_amx();
bool has_bytes_avx2();
ByteMachine bytes_avx2();
/// With AVX-512 alone.
void matrix_words_of_one_avx512(const ByteProduct& product, int64_t begin, int64_t end);
int64_t samples_avx512(const Samples& from, const ByteScale& bytes, uint32_t* words, int64_t stride);
#elif defined(__aarch64__)
ByteMachine bytes_neon();
#endif
ByteMachine bytes_portable();

}  // namespace hewn::kernels
