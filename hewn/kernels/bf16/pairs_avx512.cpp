// Pairs with AMX, with vdpbf16ps of AVX512_BF16, and a single column with AVX-512.
#include "hewn/kernels/bf16/pair_sets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#define HEWN_BYTES_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
#include "hewn/kernels/simd/begin_target.h"

namespace hewn::kernels {
namespace {

#include "hewn/kernels/simd/matrix-inl.h"
#include "hewn/kernels/simd/matrix_one-inl.h"
#include "hewn/kernels/simd/pairs-inl.h"
#include "hewn/kernels/simd/turn_words-inl.h"

struct PairTileDot {
  template <int kSum, int kWeights, int kInput>
  static HEWN_BYTES_INLINE void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kWeights), "i"(kInput));
  }
};

/// The first of a pair, then the second, each sum rounded.
struct PairVectorDot {
  static HEWN_BYTES_INLINE void dot(__m512i x, __m512i w, __m512i& sum) {
    const __m512 low = _mm512_fmadd_ps(first_of(x), first_of(w), _mm512_castsi512_ps(sum));
    sum = _mm512_castps_si512(_mm512_fmadd_ps(second_of(x), second_of(w), low));
  }
  static HEWN_BYTES_INLINE __m512i add(__m512i a, __m512i b) {
    return _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
  }
};

HEWN_BYTES_INLINE __m512i columns_at(const uint32_t* in) {
  __m512i x = _mm512_loadu_si512(in);
  asm("" : "+v"(x));  // g++ would load it again for every output
  return x;
}

HEWN_BYTES_INLINE void add_pairs(__m512i x, __m512i w, __m512i& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
}

/// Sums of eight outputs by vdpbf16ps: a word of weights that is spread out meets some vectors of columns, so
/// that loads do not hold the products up. A function of its own: inlined, g++ 12 keeps the sums in memory.
constexpr int kVectorOutputs = 8;
template <int kVectors>
HEWN_BYTES_ATTRIBUTE __attribute__((noinline)) void vector_sums(const MatrixTile& t, int64_t output,
                                                                float* sums) {
  __m512i sum[std::size_t{kVectors}][std::size_t{kVectorOutputs}];
#pragma GCC unroll 8
  for (int j = 0; j < kVectorOutputs; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v][j] = _mm512_setzero_si512();
  }
  const MatrixWeight::Step* step = t.weight->steps().data() + t.tile->first;
  const MatrixWeight::Step* end = step + t.tile->direct + t.tile->loose;
  for (; step < end; ++step) {
    const int64_t rows = step->rows;
    const uint32_t* low = t.weight->weights(*step) + output * rows;
    const uint32_t* high = low + 4 * rows;
    for (int64_t r = 0; r < rows; ++r, ++low, ++high) {
      const int32_t offset = t.offsets[step->first + (step->loose ? r : 0)];
      if (offset == MatrixWeight::kNoOffset) continue;
      const uint32_t* in = t.in + offset + (step->loose ? 0 : r * t.stride);
      __m512i x[std::size_t{kVectors}];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) x[v] = columns_at(in + v * kMatrixGroup);
#pragma GCC unroll 8
      for (int j = 0; j < kVectorOutputs; ++j) {
        const uint32_t* weight = (j < 4 ? low : high) + j % 4 * rows;
        const __m512i w = _mm512_set1_epi32(static_cast<int>(*weight));
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) add_pairs(x[v], w, sum[v][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectorOutputs; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      _mm512_store_si512(sums + (output + j) * kMatrixColumns + v * kMatrixGroup, sum[v][j]);
  }
}

struct AmxSums {
  static constexpr int64_t kColumns = kMatrixColumns;
  HEWN_BYTES_INLINE explicit AmxSums(const MatrixWeight& weight) : registers(weight.few()) {}
  HEWN_BYTES_INLINE void operator()(const MatrixTile& t, float* sums) const {
    matrix_sums<PairTileDot>(t, sums);
  }
  TileRegisters registers;
};

struct VectorSums {
  static constexpr int64_t kColumns = 3 * kMatrixGroup;
  HEWN_BYTES_INLINE explicit VectorSums(const MatrixWeight& /*weight*/) {}
  HEWN_BYTES_INLINE void operator()(const MatrixTile& t, float* sums) const {
    for (int64_t output = 0; output < MatrixWeight::kOutputs; output += kVectorOutputs) {
      if (t.columns > 2 * kMatrixGroup) {
        vector_sums<3>(t, output, sums);
      } else if (t.columns > kMatrixGroup) {
        vector_sums<2>(t, output, sums);
      } else {
        vector_sums<1>(t, output, sums);
      }
    }
  }
};

template <class Sums>
HEWN_BYTES_ATTRIBUTE void multiply_with(const PairProduct& product, int64_t first, int64_t last,
                                        int64_t begin, int64_t end) {
  // Words of the input that serve all tiles before the next ones, which stay in the L2 cache.
  constexpr int64_t kGroupWords = int64_t{128} * 1024;
  const MatrixWeight& weight = *product.weight;
  const Sums sums_of(weight);
  const int64_t chunks = kGroupWords / (kMatrixColumns * std::max<int64_t>(weight.tap_words(), 1));
  const int64_t group = kMatrixColumns * std::max<int64_t>(4, chunks);
  // While the next sums are computed, the last ones are written out.
  alignas(64) float sums[2][kMatrixSums];
  WaitingPairs waiting;
  int turn = 0;
  MatrixTile m;
  m.weight = &weight;
  m.offsets = product.offsets;
  m.stride = product.in_stride;
  for (int64_t from = first; from < last; from += group) {
    const int64_t to = std::min(last, from + group);
    for (int64_t i = begin; i < end; ++i) {
      m.tile = &weight.tiles()[static_cast<size_t>(i)];
      for (int64_t column = from; column < to; column += Sums::kColumns, turn = 1 - turn) {
        m.in = product.in + column;
        m.columns = std::min(Sums::kColumns, to - column);
        sums_of(m, sums[turn]);
        if (waiting.sums != nullptr) write_pairs(product, waiting);
        waiting = {sums[turn], m.tile->output, column, m.columns};
      }
    }
  }
  if (waiting.sums != nullptr) write_pairs(product, waiting);
}

HEWN_BYTES_ATTRIBUTE void multiply_one(const PairProduct& product, int64_t begin, int64_t end) {
  MatrixTile m;
  m.weight = product.weight;
  m.in = product.in;
  m.offsets = product.offsets;
  m.columns = 1;
  for (int64_t i = begin; i < end; ++i) {
    m.tile = &m.weight->tiles()[static_cast<size_t>(i)];
    const __m512i sums = matrix_sums_of_one<PairVectorDot>(m);
    write_single_pairs(product, m.tile->output, _mm512_castsi512_ps(sums));
  }
}

/// Sixteen samples and 32 channels at a time.
HEWN_BYTES_ATTRIBUTE int64_t sixteen_samples(const float* samples, int64_t channels, int64_t count,
                                             uint32_t* pairs, int64_t stride) {
  const int64_t done = count / 16 * 16;
  for (int64_t n = 0; n < done; n += 16) {
    for (int64_t c = 0; c < channels; c += 32) {
      const int64_t left = channels - c;
      const auto low = static_cast<__mmask16>(left >= 16 ? 0xffff : (1U << left) - 1);
      const auto high = static_cast<__mmask16>(left >= 32   ? 0xffff
                                               : left <= 16 ? 0
                                                            : (1U << (left - 16)) - 1);
      __m512i v[16];
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i) {
        const float* from = samples + (n + i) * channels + c;
        v[i] = packed_pairs(_mm512_maskz_loadu_ps(low, from), _mm512_maskz_loadu_ps(high, from + 16));
      }
      turn_words(v);
      uint32_t* to = pairs + c / 2 * stride + n;
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i) {
        if (c + 2 * i < channels) _mm512_storeu_si512(to + i * stride, v[i]);
      }
    }
  }
  return done;
}

/// Sixteen pairs at a time.
HEWN_BYTES_ATTRIBUTE int64_t max_of_sixteen(const uint32_t* a, const uint32_t* b, uint32_t* to,
                                            int64_t count) {
  const int64_t done = count / 16 * 16;
  for (int64_t i = 0; i < done; i += 16) {
    const __m512i x = _mm512_loadu_si512(a + i);
    const __m512i y = _mm512_loadu_si512(b + i);
    const __mmask16 first = _mm512_cmp_ps_mask(first_of(x), first_of(y), _CMP_GT_OQ);
    const __mmask16 second = _mm512_cmp_ps_mask(second_of(x), second_of(y), _CMP_GT_OQ);
    const __m512i low = _mm512_mask_blend_epi32(first, y, x);
    const __m512i high = _mm512_mask_blend_epi32(second, y, x);
    _mm512_storeu_si512(to + i, _mm512_mask_blend_epi16(0xaaaaaaaa, low, high));
  }
  return done;
}

}  // namespace

PairMachine pairs_amx() {
  return {"AMX", &multiply_with<AmxSums>, &multiply_one, &sixteen_samples, &max_of_sixteen};
}
PairMachine pairs_avx512() {
  return {"AVX-512 BF16", &multiply_with<VectorSums>, &multiply_one, &sixteen_samples, &max_of_sixteen};
}

}  // namespace hewn::kernels

#include "hewn/kernels/simd/end_target.h"

namespace hewn::kernels {

bool has_pairs_avx512() {
  return __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

bool has_pairs_amx() { return has_pairs_avx512() && has_matrix_tiles(); }

}  // namespace hewn::kernels
#endif
