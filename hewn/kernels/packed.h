#pragma once

#include <cstdint>
#include <vector>

#include "hewn/kernels/aligned.h"
#include "hewn/kernels/bsr.h"
#include "hewn/kernels/conv_geometry.h"
#include "hewn/kernels/panels.h"
#include "hewn/kernels/tile.h"

namespace hewn::kernels {

/// The nearest bf16 value's bits, ties to even.
uint16_t bf16_from(float value);

/// A block-sparse weight in the order in which the tile loop reads it: tile by tile, the weights of each kept
/// input row side by side. Which input rows a tile reads is a list of runs, so ragged blocks, blocks that
/// touch and convolution taps are nothing special. The plan is made once per pattern; fill() copies values
/// in.
class Packed {
 public:
  struct Tile {
    int32_t output = 0;  // first output
    int32_t outputs = 0;
    int32_t first_run = 0;
    int32_t runs = 0;
    int64_t values = 0;        // where its weights start
    bool accumulate = false;   // not the first tile of these outputs (long inputs are cut into chunks)
    bool last = true;          // the last one: bias, add and relu happen here
    bool same_inputs = false;  // reads what the tile before it reads: both belong to one block
  };

  /// y = x W: outputs are the grid's columns, inputs its rows.
  static Packed linear(const BsrPattern& pattern);
  /// dx = dy W': outputs are the grid's rows, inputs its columns.
  static Packed linear_transposed(const BsrPattern& pattern);
  /// One output pixel of a convolution over `in`, relative to the row of its top left input pixel. Rows of
  /// the grid are in (tap y, tap x, channel) order.
  static Packed conv(const BsrPattern& pattern, const ConvGeometry& geometry, const ImageShape& in);
  /// One input pixel of a convolution's input gradient, from the output gradient `out`, for pixels whose (y +
  /// padding) mod stride and (x + padding) mod stride are phase_y and phase_x; relative to the row of output
  /// pixel ((y + padding) / stride, (x + padding) / stride).
  static Packed conv_transposed(const BsrPattern& pattern, const ConvGeometry& geometry,
                                const ImageShape& out, int64_t phase_y, int64_t phase_x);

  /// Copies the blocks' values ([kept][block.cols][block.rows]) into place, for the tiles [begin, end).
  void fill(const float* values, int64_t begin, int64_t end);
  void fill(const float* values) { fill(values, 0, tile_count()); }

  /// Forgets where values come from, which takes up to as much memory as they do: fill() must not be called
  /// again.
  void freeze();

  int64_t tile_count() const { return static_cast<int64_t>(tiles_.size()); }
  const std::vector<Tile>& tiles() const { return tiles_; }
  const Run* runs(const Tile& tile) const { return runs_.data() + tile.first_run; }
  const float* values(const Tile& tile) const { return values_.data() + tile.values; }
  int64_t outputs() const { return outputs_; }
  /// Multiplications per column.
  int64_t products() const { return products_; }
  int64_t bytes() const;

 private:
  friend class PackedBuilder;

  int64_t outputs_ = 0;
  int64_t products_ = 0;
  std::vector<Tile> tiles_;
  std::vector<Run> runs_;
  std::vector<int32_t> source_;     // per run and output of its tile: where the values come from; < 0: zero
  std::vector<int32_t> source_at_;  // per run: where its entries start in source_
  int64_t source_stride_ = 1;       // from one row of a run to the next
  AlignedVector<float> values_;
};

}  // namespace hewn::kernels
