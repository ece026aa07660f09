// Bytes with AVX-512 VNNI: four products and their sum in one instruction, exact in 32 bits.
#include "hewn/kernels/int8/byte_sets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#include "hewn/kernels/int8/byte_one.h"

#define HEWN_BYTES_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"
#include "hewn/kernels/simd/begin_target.h"

namespace hewn::kernels {
namespace {

#include "hewn/kernels/simd/byte_tile-inl.h"
#include "hewn/kernels/simd/bytes_zmm-inl.h"

}  // namespace

ByteMachine bytes_avx512() {
  ByteMachine out{"AVX-512 VNNI",      false, 0, &byte_tile<Wide, Narrow>, &byte_tile_of_one<Narrow>,
                  &rows_to_words<Wide>};
  out.samples = &samples_avx512;
  out.matrix_of_one = &matrix_words_of_one_avx512;
  return out;
}

}  // namespace hewn::kernels

#include "hewn/kernels/simd/end_target.h"

namespace hewn::kernels {

bool has_bytes_avx512() {
  return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

}  // namespace hewn::kernels
#endif
