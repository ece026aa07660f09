// Pairs of bf16 in vectors of AVX-512, and what becomes of sums of their products. Included between
// begin_target.h and end_target.h.

HEWN_BYTES_INLINE __m512 first_of(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
HEWN_BYTES_INLINE __m512 second_of(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-65536)));
}

/// nearest_bf16 in the upper halves; the lower ones are anything.
HEWN_BYTES_INLINE __m512i rounded_up(__m512 y) {
  const __m512i bits = _mm512_castps_si512(y);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i near = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 none = _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(near, none, bits, _mm512_set1_epi32(0x400000));
}

HEWN_BYTES_INLINE __m512i pairs_in(__m512 first, __m512 second) {
  const __m512i high = _mm512_and_si512(rounded_up(second), _mm512_set1_epi32(-65536));
  return _mm512_or_si512(_mm512_srli_epi32(rounded_up(first), 16), high);
}

/// Of 32 numbers in a row, sixteen pairs.
HEWN_BYTES_INLINE __m512i packed_pairs(__m512 low, __m512 high) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  return pairs_in(_mm512_permutex2var_ps(low, even, high), _mm512_permutex2var_ps(low, odd, high));
}

HEWN_BYTES_INLINE __m512 relu_of(__m512 y, bool relu) {
  return relu ? _mm512_max_ps(y, _mm512_setzero_ps()) : y;
}

/// Sums that wait to be written: outputs kMatrixColumns apart.
struct WaitingPairs {
  const float* sums = nullptr;
  int64_t output = 0;
  int64_t column = 0;
  int64_t columns = 0;
};

HEWN_BYTES_ATTRIBUTE void write_pairs(const PairProduct& p, const WaitingPairs& w) {
  const int64_t left = p.weight->outputs() - w.output;
  const int64_t rows = left < MatrixWeight::kOutputs ? left : MatrixWeight::kOutputs;
  for (int64_t c = 0; c < w.columns; c += 16) {
    const int64_t here = w.columns - c;
    const auto mask = static_cast<__mmask16>(here >= 16 ? 0xffff : (1U << here) - 1);
    const float* sums = w.sums + c;
    for (int64_t j = 0; j < rows; j += 2, sums += 2 * kMatrixColumns) {
      __m512 a = _mm512_add_ps(_mm512_load_ps(sums), _mm512_set1_ps(p.bias[w.output + j]));
      __m512 b =
          _mm512_add_ps(_mm512_load_ps(sums + kMatrixColumns), _mm512_set1_ps(p.bias[w.output + j + 1]));
      const int64_t at = (w.output + j) / 2 * p.out_stride + w.column + c;
      if (p.add != nullptr) {
        const __m512i add = _mm512_maskz_loadu_epi32(mask, p.add + at);
        a = _mm512_add_ps(a, first_of(add));
        b = _mm512_add_ps(b, second_of(add));
      }
      a = relu_of(a, p.relu);
      b = relu_of(b, p.relu);
      if (p.out != nullptr) {
        _mm512_mask_storeu_epi32(p.out + at, mask, pairs_in(a, b));
        continue;
      }
      float* to = p.out_floats + (w.output + j) * p.out_stride + w.column + c;
      _mm512_mask_storeu_ps(to, mask, a);
      if (j + 1 < rows) _mm512_mask_storeu_ps(to + p.out_stride, mask, b);
    }
  }
}

/// Sixteen outputs of a single column.
HEWN_BYTES_INLINE void write_single_pairs(const PairProduct& p, int64_t output, __m512 sums) {
  const int64_t left = p.weight->outputs() - output;
  const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1U << left) - 1);
  __m512 y = _mm512_add_ps(sums, _mm512_maskz_loadu_ps(mask, p.bias + output));
  if (p.add != nullptr) {
    const auto* add = reinterpret_cast<const uint16_t*>(p.add) + output;
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, add));
    y = _mm512_add_ps(y, first_of(words));
  }
  y = relu_of(y, p.relu);
  if (p.out == nullptr) return _mm512_mask_storeu_ps(p.out_floats + output, mask, y);
  // The second of the last pair may not be there: it is zero.
  const int64_t whole = (left + 1) / 2 * 2;
  const auto wide = static_cast<__mmask16>(whole >= 16 ? 0xffff : (1U << whole) - 1);
  const __m512i halves = _mm512_maskz_srli_epi32(mask, rounded_up(y), 16);
  _mm256_mask_storeu_epi16(reinterpret_cast<uint16_t*>(p.out) + output, wide, _mm512_cvtepi32_epi16(halves));
}
