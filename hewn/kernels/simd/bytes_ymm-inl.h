// What products of bytes do with vectors of 256 bits, but for the product itself.
struct YmmBytes {
  using Words = __m256i;
  using Sums = __m256i;
  using Floats = __m256;
  static constexpr int64_t kLanes = 8;

  static HEWN_BYTES_INLINE Sums set(int32_t v) { return _mm256_set1_epi32(v); }
  static HEWN_BYTES_INLINE Floats set_floats(float v) { return _mm256_set1_ps(v); }
  static HEWN_BYTES_INLINE Words load(const uint32_t* p) {
    Words x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    asm("" : "+x"(x));  // g++ would load it again for every output
    return x;
  }
  static HEWN_BYTES_INLINE Sums load_sums(const uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static HEWN_BYTES_INLINE Words load_weights(const uint32_t* p) { return load_sums(p); }
  static HEWN_BYTES_INLINE Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
  static HEWN_BYTES_INLINE Words spread_weight(uint32_t w) { return _mm256_set1_epi32(static_cast<int>(w)); }
  static HEWN_BYTES_INLINE Words spread(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static HEWN_BYTES_INLINE Words spread_two(uint32_t x, uint32_t y) {
    return _mm256_set_m128i(_mm_set1_epi32(static_cast<int>(y)), _mm_set1_epi32(static_cast<int>(x)));
  }
  static HEWN_BYTES_INLINE Sums load_bytes(const uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static HEWN_BYTES_INLINE void store_bytes(Sums v, uint8_t* p) {
    const __m128i pairs = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(pairs, pairs));
  }
  static HEWN_BYTES_INLINE Sums plus(Sums a, Sums b) { return _mm256_add_epi32(a, b); }
  static HEWN_BYTES_INLINE Sums either(Sums a, Sums b) { return _mm256_or_si256(a, b); }
  static HEWN_BYTES_INLINE Sums byte(Sums v, int b) {
    return _mm256_and_si256(_mm256_srli_epi32(v, 8 * b), set(255));
  }
  static HEWN_BYTES_INLINE Sums put_byte(Sums v, int b) { return _mm256_slli_epi32(v, 8 * b); }
  static HEWN_BYTES_INLINE Floats to_floats(Sums v) { return _mm256_cvtepi32_ps(v); }
  static HEWN_BYTES_INLINE Sums round(Floats v) { return _mm256_cvtps_epi32(v); }
  static HEWN_BYTES_INLINE Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static HEWN_BYTES_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  static HEWN_BYTES_INLINE Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static HEWN_BYTES_INLINE Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static HEWN_BYTES_INLINE void store(Sums v, uint32_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static HEWN_BYTES_INLINE void store(Floats v, float* p) { _mm256_storeu_ps(p, v); }
};
