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
/// As a user would write it: "16" or "8x32".
std::string short_text(const BlockShape& block);

/// The partition of one weight into blocks.
///
/// The weight is seen as a matrix of `rows` x `cols`: a Linear layer as in x out, a Conv2d layer as
/// (H*W*Cin) x Cout with the kernel in H, W, Cin order down the rows (paper, appendix on the set-up).
/// Edge blocks may be smaller than `block`; they count like any other. Blocks are numbered row by row.
/// A convolution with groups, and a weight that holds several side by side (query, key and value of an
/// attention), is cut into `groups` equal parts of columns first, and no block lies in two of them.
struct Grid {
  int64_t rows = 0;
  int64_t cols = 0;
  BlockShape block = {};
  int64_t groups = 1;

  int64_t row_blocks() const { return (rows + block.rows - 1) / block.rows; }
  int64_t col_blocks() const { return groups * group_blocks(); }
  int64_t blocks() const { return row_blocks() * col_blocks(); }
  int64_t elements() const { return rows * cols; }

  /// Columns of one group, and blocks side by side in them.
  int64_t group_cols() const { return cols / groups; }
  int64_t group_blocks() const { return (group_cols() + block.cols - 1) / block.cols; }

  /// The columns [first, last) of a column block.
  int64_t first_col(int64_t col_block) const {
    if (groups == 1) return col_block * block.cols;
    return col_block / group_blocks() * group_cols() + col_block % group_blocks() * block.cols;
  }
  int64_t last_col(int64_t col_block) const {
    const int64_t group_end = groups == 1 ? cols : (col_block / group_blocks() + 1) * group_cols();
    const int64_t end = first_col(col_block) + block.cols;
    return end < group_end ? end : group_end;
  }

  int64_t block_of(int64_t row, int64_t col) const {
    const int64_t col_block = groups == 1
                                  ? col / block.cols
                                  : col / group_cols() * group_blocks() + col % group_cols() / block.cols;
    return row / block.rows * col_blocks() + col_block;
  }
  /// Elements inside block `index`: fewer than block.rows * block.cols at a ragged edge.
  int64_t elements_of(int64_t index) const;

  bool operator==(const Grid&) const = default;
};

/// What becomes of the fraction of a block in (1 - sparsity) * blocks: it is left out, which gives every
/// realised sparsity that the paper prints; or, as in version 0.1, a half and more of a block is a whole one.
enum class Rounding : uint8_t { kDown, kNearest };

/// Blocks kept at `sparsity` out of `blocks`: at least one.
int64_t blocks_to_keep(int64_t blocks, double sparsity, Rounding rounding = Rounding::kDown);

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
