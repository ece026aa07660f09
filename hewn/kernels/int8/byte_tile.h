#pragma once

#include <cstdint>

#include "hewn/kernels/int8/words.h"

namespace hewn::kernels {

/// One tile of a product of bytes: `outputs` rows of the result, `columns` wide.
///
///   sum[j][c] = start[j] + sum over i and the bytes b of a word of in[offsets[i] + c][b] * weight[i][j][b]
///   y[j][c]   = scale[j] * sum[j][c] + bias[j], rounded once
///   y[j][c]  += add_scale * (add[j][c] - add_zero), rounded once, where there is something to add
///
/// Into floats y goes as it is, or max(0, y); into words as the nearest whole number, ties to even, plus
/// `zero`, within `least` and 255. Sums are exact in 32 bits and all else is one correctly rounded operation
/// after the other, so that every instruction set gives the same bits.
struct ByteTile {
  const uint32_t* in = nullptr;
  const int32_t* offsets = nullptr;
  int64_t count = 0;
  const uint32_t* weight = nullptr;  // [i][outputs]
  int64_t outputs = 0;               // 4 or 8
  int64_t columns = 0;               // a multiple of kByteColumnStep; or 1
  const int32_t* start = nullptr;    // eight of each can be read
  const float* scale = nullptr;
  const float* bias = nullptr;

  uint32_t* out = nullptr;  // words; else floats
  float* out_floats = nullptr;
  int64_t out_stride = 0;         // from one row of words, or floats, to the next
  int64_t out_rows = 0;           // of floats that are written: there may be fewer than outputs
  const uint32_t* add = nullptr;  // rows out_stride apart; with words only
  float add_scale = 0;
  int32_t add_zero = 0;
  int32_t zero = 0;
  int32_t least = 0;  // 0, or zero behind a relu
  bool relu = false;  // of floats
};

constexpr int64_t kByteColumnStep = 8;

struct ByteProduct;

/// Rows of numbers, one behind the other.
struct Samples {
  const float* first = nullptr;
  int64_t channels = 0;
  int64_t count = 0;
};

/// What an instruction set does with bytes.
struct ByteMachine {
  const char* name = "";
  bool split = false;  // wants weights whose pairs fit 16 bits (ByteWeight)
  int32_t less = 0;    // is taken from every byte of the input; `start` brings it back
  void (*tile)(const ByteTile&) = nullptr;
  /// For a single column: words of the input and the output lie side by side (strides are 1). Writes whole
  /// tiles of floats.
  void (*tile_of_one)(const ByteTile&) = nullptr;
  void (*to_words)(const FourRows& rows, const ByteScale& bytes, uint32_t* words, int64_t count) = nullptr;
  /// samples_to_words of the first samples, as many as it says.
  int64_t (*samples)(const Samples& from, const ByteScale& bytes, uint32_t* words, int64_t stride) = nullptr;
  /// multiply_matrix_words and multiply_matrix_words_of_one, where it has them.
  void (*matrix)(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                 int64_t end) = nullptr;
  void (*matrix_of_one)(const ByteProduct& product, int64_t begin, int64_t end) = nullptr;
};

/// The fastest of this machine, and all that it can run, for tests and benchmarks; the last is portable.
const ByteMachine& byte_machine();
int byte_machine_count();
const ByteMachine& byte_machine_at(int index);

}  // namespace hewn::kernels
