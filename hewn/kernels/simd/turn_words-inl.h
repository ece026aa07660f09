// Sixteen vectors of sixteen words, turned: lane i of vector k becomes lane k of vector i.
HEWN_BYTES_INLINE void turn_words(__m512i (&v)[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // Now v[4 a + b] has, in its quarter q, lane 4 q + b of the vectors 4 a to 4 a + 3.
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    const __m512i low = _mm512_shuffle_i32x4(v[b], v[4 + b], 0x88);
    const __m512i high = _mm512_shuffle_i32x4(v[b], v[4 + b], 0xdd);
    const __m512i low2 = _mm512_shuffle_i32x4(v[8 + b], v[12 + b], 0x88);
    const __m512i high2 = _mm512_shuffle_i32x4(v[8 + b], v[12 + b], 0xdd);
    t[b] = _mm512_shuffle_i32x4(low, low2, 0x88);
    t[8 + b] = _mm512_shuffle_i32x4(low, low2, 0xdd);
    t[4 + b] = _mm512_shuffle_i32x4(high, high2, 0x88);
    t[12 + b] = _mm512_shuffle_i32x4(high, high2, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) v[i] = t[i];
}
