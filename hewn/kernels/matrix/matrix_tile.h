#pragma once

#include <cstdint>

#include "hewn/kernels/matrix/matrix_weight.h"

namespace hewn::kernels {

/// Sums of one tile of a MatrixWeight, sixteen outputs wide:
///
///   sums[j][c] = sum over its steps and their rows r of word(in[offset of r + c]) * word(weight[j][r])
///
/// where the product of two words is that of their four bytes, or of their pairs of bf16.
struct MatrixTile {
  const MatrixWeight* weight = nullptr;
  const MatrixWeight::Tile* tile = nullptr;
  const uint32_t* in = nullptr;      // the first column
  const int32_t* offsets = nullptr;  // matrix_offsets, of all inputs of the weight
  int64_t stride = 0;                // of rows of the input
  int64_t columns = 0;               // up to kMatrixColumns; up to fifteen more are read
};

/// Columns of a tile whose sums are held at once, and the room for them.
constexpr int64_t kMatrixColumns = 64;
constexpr int64_t kMatrixGroup = 16;
constexpr int64_t kMatrixSums = MatrixWeight::kOutputs * kMatrixColumns;

/// Whether this process may use the instructions for small matrices of words.
bool has_matrix_tiles();

}  // namespace hewn::kernels
