#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::kernels {

/// Tiles of a weight one behind the other that read the rows [first_row, last_row) and no output twice.
struct PlaneSegment {
  int64_t begin = 0;  // tiles
  int64_t end = 0;
  int64_t first_row = 0;
  int64_t last_row = 0;
};

/// Where the tiles of a weight find their inputs in planes: Run::row is then an offset in floats.
struct PlaneRuns {
  std::vector<Run> runs;
  std::vector<int32_t> first;  // of each tile, and behind the last one
  std::vector<int32_t> rows;   // where each row of the weight is
  std::vector<PlaneSegment> segments;
  /// Whether so many tiles read a row that all are brought side by side first.
  bool gathers = false;
};

/// The weight's rows are (tap, channel). A tap's input lies taps[tap] floats behind the output's place, its
/// channels `stride` floats apart.
PlaneRuns plane_runs(const Packed& weight, int64_t channels, std::span<const int64_t> taps, int64_t stride);

/// A product over planes: one row of numbers for every channel, the pixels of all images of a batch in it,
/// one behind the other. Input and output have their pixels at the same places, so that a convolution's taps
/// are equally far from all of them; what is between the lines comes out as anything. A layer without pixels
/// has samples, or tokens, in their place.
///
///   out[j][p] = sum over taps t and channels c of in[c][p + taps[t]] * weight[t, c][j]
///
/// plus bias[j], plus add[j][p], then max(0, .) where relu is set, then what `then` says.
struct PlaneProduct {
  const Packed* weight = nullptr;
  const PlaneRuns* runs = nullptr;
  const float* in = nullptr;
  int64_t in_stride = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
  const float* bias = nullptr;
  const float* add = nullptr;  // rows out_stride apart; may be `out`
  bool relu = false;
  Activation then{};
  int64_t channels = 0;  // rows of the input
};

/// For the pixels [first, last), and up to seven more to a multiple of kColumnStep, and the tiles [begin,
/// end).
void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);

/// c = a b for row-major matrices: `rows` x `inner` times `inner` x `columns`.
struct MatrixProduct {
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

/// The rows [begin, end) of it.
void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels
