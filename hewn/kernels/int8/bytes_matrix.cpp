// Bytes with the matrix instructions of AMX, and a single column with AVX-512 VNNI.
#include "hewn/kernels/int8/byte_sets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "hewn/kernels/int8/byte_matrix.h"
#include "hewn/kernels/int8/byte_one.h"
#include "hewn/kernels/matrix/matrix_tile.h"

#define HEWN_BYTES_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"
#include "hewn/kernels/simd/begin_target.h"

namespace hewn::kernels {
namespace {

#include "hewn/kernels/simd/byte_tile-inl.h"
#include "hewn/kernels/simd/bytes_zmm-inl.h"
#include "hewn/kernels/simd/matrix-inl.h"
#include "hewn/kernels/simd/matrix_one-inl.h"
#include "hewn/kernels/simd/turn_words-inl.h"

/// Signed weights on the left, bytes of the input on the right.
struct ByteTileDot {
  template <int kSum, int kWeights, int kInput>
  static HEWN_BYTES_INLINE void dot() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kWeights), "i"(kInput));
  }
};

struct ByteVectorDot {
  static HEWN_BYTES_INLINE void dot(__m512i x, __m512i w, __m512i& sum) { Wide::dot(x, w, sum); }
  static HEWN_BYTES_INLINE __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
};

/// A vector of columns of all outputs.
template <class Simd>
HEWN_BYTES_INLINE void finish_columns(const ByteTile& t, const uint32_t* sums, int64_t column) {
  for (int64_t j = 0; j < t.outputs; j += 4) {
    typename Simd::Sums four[4];
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) {
      four[b] =
          Simd::plus(Simd::load_sums(sums + (j + b) * kMatrixColumns + column), Simd::set(t.start[j + b]));
    }
    if (t.out != nullptr) {
      finish_words<Simd>(t, four, j, column);
    } else {
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) finish_floats<Simd>(t, four[b], j + b, column);
    }
  }
}

/// Sums that wait to be written.
struct Waiting {
  ByteTile tile;
  int64_t columns = 0;
  const uint32_t* sums = nullptr;
};

HEWN_BYTES_ATTRIBUTE void write_out(const Waiting& w) {
  int64_t c = 0;
  for (; c + Wide::kLanes <= w.columns; c += Wide::kLanes) finish_columns<Wide>(w.tile, w.sums, c);
  for (; c < w.columns; c += Narrow::kLanes) finish_columns<Narrow>(w.tile, w.sums, c);
}

HEWN_BYTES_ATTRIBUTE void multiply_amx(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                                       int64_t end) {
  // Words of the input that serve all tiles before the next ones, which stay in the L2 cache.
  constexpr int64_t kGroupWords = int64_t{128} * 1024;
  const MatrixWeight& weight = *product.weight->matrix();
  const TileRegisters registers(weight.few());
  const int64_t chunks = kGroupWords / (kMatrixColumns * std::max<int64_t>(weight.tap_words(), 1));
  const int64_t group = kMatrixColumns * std::max<int64_t>(4, chunks);
  // While the next sums are computed, the last ones are written out.
  alignas(64) uint32_t sums[2][kMatrixSums];
  Waiting waiting;
  int turn = 0;
  MatrixTile m;
  m.weight = &weight;
  m.offsets = product.matrix_offsets;
  m.stride = product.in_stride;
  for (int64_t from = first; from < last; from += group) {
    const int64_t to = std::min(last, from + group);
    for (int64_t i = begin; i < end; ++i) {
      m.tile = &weight.tiles()[static_cast<size_t>(i)];
      const ByteTile t = behind_matrix(product, *m.tile);
      for (int64_t column = from; column < to; column += kMatrixColumns, turn = 1 - turn) {
        m.in = product.in + column;
        const int64_t left = (to - column + kByteColumnStep - 1) / kByteColumnStep * kByteColumnStep;
        m.columns = std::min(kMatrixColumns, left);
        matrix_sums<ByteTileDot>(m, sums[turn]);
        if (waiting.sums != nullptr) write_out(waiting);
        waiting = {t, m.columns, sums[turn]};
        if (t.out != nullptr) waiting.tile.out += column;
        if (t.add != nullptr) waiting.tile.add += column;
        if (t.out_floats != nullptr) waiting.tile.out_floats += column;
      }
    }
  }
  if (waiting.sums != nullptr) write_out(waiting);
}

/// Sixteen outputs of a single column.
HEWN_BYTES_INLINE void write_single(const ByteProduct& p, int64_t output, __m512i sums) {
  const auto left = static_cast<uint32_t>(std::min<int64_t>(16, p.weight->outputs() - output));
  const __m512i whole = _mm512_add_epi32(sums, _mm512_loadu_si512(p.start + output));
  __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), _mm512_loadu_ps(p.scale + output),
                             _mm512_loadu_ps(p.bias + output));
  if (p.out == nullptr) {
    if (p.relu) y = _mm512_max_ps(y, _mm512_setzero_ps());
    return _mm512_mask_storeu_ps(p.out_floats + output, static_cast<__mmask16>((1U << left) - 1), y);
  }
  const auto bytes = static_cast<__mmask16>((1U << ((left + 3) / 4 * 4)) - 1);
  ByteTile t;
  t.add_scale = p.add_scale;
  t.add_zero = p.add_zero;
  t.zero = p.zero;
  t.least = p.relu ? p.zero : 0;
  if (p.add != nullptr) {
    const __m128i add = _mm_maskz_loadu_epi8(bytes, reinterpret_cast<const uint8_t*>(p.add) + output);
    y = added<Wide>(t, _mm512_cvtepu8_epi32(add), y);
  }
  _mm512_mask_cvtepi32_storeu_epi8(reinterpret_cast<uint8_t*>(p.out) + output, bytes, byte_of<Wide>(t, y));
}

/// The bytes of up to 64 channels, those that are not there `zero`.
HEWN_BYTES_INLINE __m512i sixteen_words(const float* from, int64_t left, const ByteTile& ends,
                                        float inverse) {
  __m512i out = _mm512_setzero_si512();
  const auto part = [&](int64_t k) HEWN_BYTES_LAMBDA {
    const int64_t here = left - 16 * k;
    const auto mask = static_cast<__mmask16>(here >= 16 ? 0xffff : here <= 0 ? 0 : (1U << here) - 1);
    const __m512 x = _mm512_maskz_loadu_ps(mask, from + 16 * k);
    return _mm512_cvtepi32_epi8(byte_of<Wide>(ends, _mm512_mul_ps(x, _mm512_set1_ps(inverse))));
  };
  out = _mm512_inserti32x4(out, part(0), 0);
  out = _mm512_inserti32x4(out, part(1), 1);
  out = _mm512_inserti32x4(out, part(2), 2);
  return _mm512_inserti32x4(out, part(3), 3);
}

}  // namespace

int64_t samples_avx512(const Samples& from, const ByteScale& bytes, uint32_t* words, int64_t stride) {
  ByteTile ends;
  ends.zero = bytes.zero;
  const float inverse = 1.0F / bytes.scale;
  if (from.count == 1 && stride == 1) {
    for (int64_t c = 0; c < from.channels; c += 64) {
      const int64_t rows = word_rows(from.channels - c);
      const auto mask = static_cast<__mmask16>(rows >= 16 ? 0xffff : (1U << rows) - 1);
      _mm512_mask_storeu_epi32(words + c / 4, mask,
                               sixteen_words(from.first + c, from.channels - c, ends, inverse));
    }
    return 1;
  }
  const int64_t done = from.count / 16 * 16;
  for (int64_t n = 0; n < done; n += 16) {
    for (int64_t c = 0; c < from.channels; c += 64) {
      __m512i v[16];
      for (int64_t i = 0; i < 16; ++i) {
        v[i] = sixteen_words(from.first + (n + i) * from.channels + c, from.channels - c, ends, inverse);
      }
      turn_words(v);
      uint32_t* to = words + c / 4 * stride + n;
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i) {
        if (c + 4 * i < from.channels) _mm512_storeu_si512(to + i * stride, v[i]);
      }
    }
  }
  return done;
}

void matrix_words_of_one_avx512(const ByteProduct& product, int64_t begin, int64_t end) {
  MatrixTile m;
  m.weight = product.weight->matrix();
  m.in = product.in;
  m.offsets = product.matrix_offsets;
  m.columns = 1;
  for (int64_t i = begin; i < end; ++i) {
    m.tile = &m.weight->tiles()[static_cast<size_t>(i)];
    write_single(product, m.tile->output, matrix_sums_of_one<ByteVectorDot>(m));
  }
}

ByteMachine bytes_amx() {
  ByteMachine out = bytes_avx512();
  out.name = "AMX";
  out.matrix = &multiply_amx;
  return out;
}

}  // namespace hewn::kernels

#include "hewn/kernels/simd/end_target.h"
#endif
