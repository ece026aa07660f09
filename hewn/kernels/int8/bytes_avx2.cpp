// Bytes with AVX2: pairs of products are added in 16 bits, which their weights are cut for.
#include "hewn/kernels/int8/byte_sets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#include "hewn/kernels/int8/byte_one.h"

#define HEWN_BYTES_TARGET "avx2,fma"
#include "hewn/kernels/simd/begin_target.h"

namespace hewn::kernels {
namespace {

#include "hewn/kernels/simd/bytes_ymm-inl.h"

struct Pairs : YmmBytes {
  static constexpr int kRegisters = 8;  // of 16 for sums
  static HEWN_BYTES_INLINE void dot(Words x, Words w, Sums& sum) {
    const __m256i pairs = _mm256_maddubs_epi16(x, w);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

#include "hewn/kernels/simd/byte_tile-inl.h"

}  // namespace

ByteMachine bytes_avx2() {
  return {"AVX2", true, 0, &byte_tile<Pairs, Pairs>, &byte_tile_of_one<Pairs>, &rows_to_words<Pairs>};
}

}  // namespace hewn::kernels

#include "hewn/kernels/simd/end_target.h"

namespace hewn::kernels {

bool has_bytes_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

}  // namespace hewn::kernels
#endif
