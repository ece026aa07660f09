#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hewn {

/// Extents of one block, rows x columns of the weight matrix. B alone means B x B.
struct BlockShape {
  int64_t rows = 16;
  int64_t cols = 16;

  bool operator==(const BlockShape&) const = default;
};

/// Reads "16" or "8x32"; throws Error for anything else.
BlockShape parse_block(const std::string& text);
std::string to_string(const BlockShape& block);

/// The partition of one weight into blocks.
///
/// The weight is seen as a matrix of `rows` x `cols`: a Linear layer as in x out, a Conv2d layer as
/// (H*W*Cin) x Cout with the kernel in H, W, Cin order down the rows (paper, appendix on the set-up).
/// Edge blocks may be smaller than `block`; they count like any other. Blocks are numbered row by row.
struct Grid {
  int64_t rows = 0;
  int64_t cols = 0;
  BlockShape block;

  int64_t row_blocks() const { return (rows + block.rows - 1) / block.rows; }
  int64_t col_blocks() const { return (cols + block.cols - 1) / block.cols; }
  int64_t blocks() const { return row_blocks() * col_blocks(); }
  int64_t elements() const { return rows * cols; }

  int64_t block_of(int64_t row, int64_t col) const {
    return row / block.rows * col_blocks() + col / block.cols;
  }
  /// Elements inside block `index`: fewer than block.rows * block.cols at a ragged edge.
  int64_t elements_of(int64_t index) const;

  bool operator==(const Grid&) const = default;
};

/// Blocks kept at `sparsity` out of `blocks`: max(1, round half up((1 - sparsity) * blocks)).
int64_t blocks_to_keep(int64_t blocks, double sparsity);

/// How a weight tensor's memory maps onto its matrix. Memory holds `cols` runs, one per output, of `rows`
/// elements each. Inside a run, element m is matrix row m (`taps` == 1: Linear, or Conv2d in channels-last
/// order) or, for a Conv2d in O,I,H,W order with taps = H*W, row (m % taps) * (rows / taps) + m / taps.
struct WeightLayout {
  Grid grid;
  int64_t taps = 1;

  int64_t row_of(int64_t offset) const {
    return taps == 1 ? offset : (offset % taps) * (grid.rows / taps) + offset / taps;
  }
  /// Where matrix row `row` lies inside a run: the inverse of row_of.
  int64_t offset_of(int64_t row) const {
    const int64_t channels = grid.rows / taps;
    return taps == 1 ? row : row % channels * taps + row / channels;
  }
};

}  // namespace hewn
