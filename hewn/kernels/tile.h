#pragma once

#include <bit>
#include <cstdint>

namespace hewn::kernels {

/// Rows of the input that lie one behind the other.
struct Run {
  int32_t row = 0;
  int32_t length = 0;
};

/// One tile of a product: `outputs` rows of the result, each `columns` wide.
///
///   out[j][c] = sum over the runs' rows r, counted through by i, of in[r][c] * weight[i][j]
///
/// plus what stands in `out` (accumulate), plus bias[j], plus add[j][c], then max(0, .) where relu is set.
/// Every fast path is this one formula: a Linear layer's panels, its input gradient, its weight gradient (the
/// rows are then the batch), and a pixel of a convolution.
struct TileArguments {
  const float* in = nullptr;
  int64_t in_stride = 0;  // floats from one row to the next
  int64_t run_unit = 0;   // floats that Run::row counts in; 0: in_stride
  const Run* runs = nullptr;
  int64_t run_count = 0;
  const float* weight = nullptr;
  int64_t weight_stride = 0;  // floats from one i to the next
  int64_t outputs = 0;        // at most kMaxOutputs
  int64_t columns = 0;        // a multiple of kColumnStep, at most strip_width
  float* out = nullptr;
  int64_t out_stride = 0;
  const float* bias = nullptr;  // may be null
  const float* add = nullptr;   // may be null; rows out_stride apart
  bool accumulate = false;
  bool relu = false;
  bool rows_again = false;  // a hint: the next tile reads the same rows, `columns` further on
};

constexpr int64_t kMaxOutputs = 8;
constexpr int64_t kColumnStep = 8;
constexpr int64_t kReadAhead = 16;

/// A number of bf16.
inline float widen(uint16_t bf16) { return std::bit_cast<float>(static_cast<uint32_t>(bf16) << 16); }

/// What this machine's fastest instructions want.
struct Machine {
  const char* name = "";     // of the instruction set
  int64_t lanes = 8;         // floats of a vector
  int64_t panel_width = 24;  // columns of a full panel
  int64_t strip_width = 24;  // the most columns of a tile
  int64_t tile_outputs = 4;  // outputs of a full tile
  void (*tile)(const TileArguments&) = nullptr;
  /// For a single column: rows and outputs lie side by side (strides are 1, weights are tight). Reads up to
  /// kReadAhead weights behind the last one.
  void (*tile_of_one)(const TileArguments&) = nullptr;
  /// to[j][i] = from[i][j] for eight i and `features` j; and to[i][j] = from[j][i]. Strides are those of the
  /// first index.
  void (*pack_eight)(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                     int64_t features) = nullptr;
  void (*unpack_eight)(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                       int64_t features) = nullptr;
  /// panel[i][c] = in[rows[i] + c] for `count` i and all c below `columns`, a multiple of kColumnStep; rows
  /// of the panel are strip_width apart.
  void (*gather)(const float* in, const int32_t* rows, int64_t count, int64_t columns,
                 float* panel) = nullptr;
};

/// Chosen once, at run time.
const Machine& machine();

/// Every instruction set that this build holds and this CPU can run, for tests and benchmarks.
int machine_count();
const Machine& machine_at(int index);

}  // namespace hewn::kernels
