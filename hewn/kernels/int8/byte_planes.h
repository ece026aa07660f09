#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hewn/kernels/int8/byte_tile.h"
#include "hewn/kernels/int8/byte_weight.h"

namespace hewn::kernels {

/// A product over planes of words: as PlaneProduct, with bytes on both sides. What comes out is that of
/// ByteTile.
///
///   sum[j][p] = sum over taps t and channels c of (in[c][p + taps[t]] - in_zero) * weight[j][t][c]
struct ByteProduct {
  const ByteWeight* weight = nullptr;
  const int32_t* offsets = nullptr;         // of weight->inputs() (word_offsets)
  const int32_t* matrix_offsets = nullptr;  // of weight->matrix()'s (matrix_offsets), where that is used
  const ByteMachine* machine = nullptr;
  const uint32_t* in = nullptr;
  int64_t in_stride = 0;  // of rows of words; for matrices
  int32_t in_zero = 0;
  const int32_t* start = nullptr;  // starts_of
  const float* scale = nullptr;    // of each output, and eight more; bias likewise
  const float* bias = nullptr;
  uint32_t* out = nullptr;  // words; else floats
  float* out_floats = nullptr;
  int64_t out_stride = 0;
  const uint32_t* add = nullptr;  // rows out_stride apart; with words only
  float add_scale = 0;
  int32_t add_zero = 0;
  int32_t zero = 0;
  bool relu = false;
};

/// Where the weight's inputs are: a tap's words lie taps[tap] words behind the output's place, rows of words
/// `stride` apart.
std::vector<int32_t> word_offsets(const ByteWeight& weight, std::span<const int64_t> taps, int64_t stride);

/// What sums begin with, so that the input's zero, and what the machine takes from every byte, drops out.
std::vector<int32_t> starts_of(const ByteWeight& weight, int32_t in_zero, const ByteMachine& machine);

/// For the columns [first, last), and up to seven more to a multiple of kByteColumnStep, and the tiles
/// [begin, end).
void multiply_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);

/// For a single column: rows of words, or floats, lie side by side.
void multiply_words_of_one(const ByteProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels
