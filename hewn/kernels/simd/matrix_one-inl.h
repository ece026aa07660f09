// Sums of a tile and a single column with AVX-512, whose words lie side by side. A vector holds the weights
// of one output and sixteen rows, of two and eight, or of four and four, and meets as many words of the
// input. Included between begin_target.h and end_target.h; Dot has dot(x, w, sum) and add(a, b) on __m512i.

/// Four vectors of four outputs by four lanes each: the sums of their lanes, in order.
template <class Dot>
HEWN_BYTES_INLINE __m512i add_fours(const __m512i (&a)[4]) {
  const __m512i low = Dot::add(_mm512_unpacklo_epi32(a[0], a[1]), _mm512_unpackhi_epi32(a[0], a[1]));
  const __m512i high = Dot::add(_mm512_unpacklo_epi32(a[2], a[3]), _mm512_unpackhi_epi32(a[2], a[3]));
  const __m512i all = Dot::add(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, all);
}

/// Two vectors of two outputs by eight lanes: one of four by four.
template <class Dot>
HEWN_BYTES_INLINE __m512i add_eights(__m512i a, __m512i b) {
  return Dot::add(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

/// Two vectors of one output each: one of two by eight.
template <class Dot>
HEWN_BYTES_INLINE __m512i add_halves(__m512i a, __m512i b) {
  return Dot::add(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
}

/// `rows` rows of sixteen outputs: kVectors vectors of weights with the same words of the input.
template <class Dot, int kVectors>
HEWN_BYTES_INLINE void one_step(__m512i x, const uint32_t* weights, __m512i (&sums)[std::size_t{kVectors}]) {
#pragma GCC unroll 16
  for (int64_t v = 0; v < kVectors; ++v) Dot::dot(x, _mm512_load_si512(weights + 16 * v), sums[v]);
}

/// Long and loose steps. Of few tiles are there any.
template <class Dot>
HEWN_BYTES_ATTRIBUTE void long_steps_of_one(const MatrixTile& t, __m512i (&fours)[4]) {
  __m512i sums[16];
#pragma GCC unroll 16
  for (int v = 0; v < 16; ++v) sums[v] = _mm512_setzero_si512();
  const MatrixWeight::Step* step = t.weight->steps().data() + t.tile->first;
  for (int32_t i = 0; i < t.tile->direct + t.tile->loose; ++i, ++step) {
    if (step->rows != MatrixWeight::kRows) continue;
    const int32_t* offsets = t.offsets + step->first;
    __m512i x;
    if (step->loose) {
      const __m512i at = _mm512_loadu_si512(offsets);
      const __mmask16 there = _mm512_cmpneq_epi32_mask(at, _mm512_set1_epi32(MatrixWeight::kNoOffset));
      x = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), there, at, t.in, 4);
    } else {
      x = _mm512_loadu_si512(t.in + *offsets);
    }
    one_step<Dot, 16>(x, t.weight->weights(*step), sums);
  }
#pragma GCC unroll 4
  for (int64_t v = 0; v < 4; ++v) {
    const __m512i low = add_halves<Dot>(sums[4 * v], sums[4 * v + 1]);
    const __m512i high = add_halves<Dot>(sums[4 * v + 2], sums[4 * v + 3]);
    fours[v] = Dot::add(fours[v], add_eights<Dot>(low, high));
  }
}

template <class Dot, int kFew>
HEWN_BYTES_ATTRIBUTE __m512i sums_of_one(const MatrixTile& t) {
  constexpr int kVectors = kFew;  // of sixteen words
  __m512i sums[std::size_t{kVectors}];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) sums[v] = _mm512_setzero_si512();
  const MatrixWeight::Step* step = t.weight->steps().data() + t.tile->first;
  int32_t longs = t.tile->loose;
  for (int32_t i = 0; i < t.tile->direct; ++i, ++step) {
    if (step->rows == MatrixWeight::kRows) {
      ++longs;
      continue;
    }
    const uint32_t* in = t.in + t.offsets[step->first];
    __m512i x;
    if constexpr (kFew == 4) {
      x = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
    } else {
      x = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
    }
    one_step<Dot, kVectors>(x, t.weight->weights(*step), sums);
  }
  __m512i fours[4];
#pragma GCC unroll 4
  for (int64_t v = 0; v < 4; ++v) {
    if constexpr (kFew == 4) fours[v] = sums[v];
    if constexpr (kFew == 8) fours[v] = add_eights<Dot>(sums[2 * v], sums[2 * v + 1]);
  }
  if (longs > 0) long_steps_of_one<Dot>(t, fours);
  return add_fours<Dot>(fours);
}

/// Sixteen sums.
template <class Dot>
HEWN_BYTES_INLINE __m512i matrix_sums_of_one(const MatrixTile& t) {
  return t.weight->few() == 4 ? sums_of_one<Dot, 4>(t) : sums_of_one<Dot, 8>(t);
}
