// Bytes in 512 bits with AVX-512 VNNI, and in 256.
struct Wide {
  using Words = __m512i;
  using Sums = __m512i;
  using Floats = __m512;
  static constexpr int64_t kLanes = 16;
  static constexpr int kRegisters = 24;  // of 32 for sums

  static HEWN_BYTES_INLINE Sums set(int32_t v) { return _mm512_set1_epi32(v); }
  static HEWN_BYTES_INLINE Floats set_floats(float v) { return _mm512_set1_ps(v); }
  static HEWN_BYTES_INLINE Words load(const uint32_t* p) {
    Words x = _mm512_loadu_si512(p);
    asm("" : "+v"(x));  // g++ would load it again for every output
    return x;
  }
  static HEWN_BYTES_INLINE Sums load_sums(const uint32_t* p) { return _mm512_loadu_si512(p); }
  static HEWN_BYTES_INLINE Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
  static HEWN_BYTES_INLINE Words spread_weight(uint32_t w) { return _mm512_set1_epi32(static_cast<int>(w)); }
  /// As the intrinsic, for which g++ 12 moves every sum through memory.
  static HEWN_BYTES_INLINE void dot(Words x, Words w, Sums& sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
  }
  static HEWN_BYTES_INLINE Sums plus(Sums a, Sums b) { return _mm512_add_epi32(a, b); }
  static HEWN_BYTES_INLINE Sums either(Sums a, Sums b) { return _mm512_or_si512(a, b); }
  static HEWN_BYTES_INLINE Sums byte(Sums v, int b) {
    return _mm512_and_si512(_mm512_srli_epi32(v, static_cast<unsigned>(8 * b)), set(255));
  }
  static HEWN_BYTES_INLINE Sums put_byte(Sums v, int b) {
    return _mm512_slli_epi32(v, static_cast<unsigned>(8 * b));
  }
  static HEWN_BYTES_INLINE Floats to_floats(Sums v) { return _mm512_cvtepi32_ps(v); }
  static HEWN_BYTES_INLINE Sums round(Floats v) { return _mm512_cvtps_epi32(v); }
  static HEWN_BYTES_INLINE Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static HEWN_BYTES_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  static HEWN_BYTES_INLINE Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static HEWN_BYTES_INLINE Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static HEWN_BYTES_INLINE void store(Sums v, uint32_t* p) { _mm512_storeu_si512(p, v); }
  static HEWN_BYTES_INLINE void store(Floats v, float* p) { _mm512_storeu_ps(p, v); }
};

#include "hewn/kernels/simd/bytes_ymm-inl.h"

struct Narrow : YmmBytes {
  static constexpr int kRegisters = 8;
  static HEWN_BYTES_INLINE void dot(Words x, Words w, Sums& sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "vm"(w));
  }
};
