#pragma once

#include <cstdint>
#include <span>

#include "hewn/kernels/packed.h"
#include "hewn/kernels/panels.h"

namespace hewn::kernels {

/// What happens to a product on its way out, while it is still in registers.
struct Epilogue {
  const float* bias = nullptr;  // one per output
  const float* add = nullptr;   // same shape and positions as the result
  bool relu = false;
};

/// A result's position in a panel, in rows, and that of the input it is made from.
struct Position {
  int64_t in = 0;
  int64_t out = 0;
};

/// out = in * weight for one panel, at each of the positions, for the tiles [begin, end). A Linear layer has
/// one position, {0, 0}; a convolution one per output pixel. Tiles that share outputs must be in the same
/// range. `columns` is a multiple of kColumnStep, or 1: a single sample, whose vectors run over the outputs.
void multiply(const Packed& weight, const float* in, float* out, int64_t columns,
              std::span<const Position> positions, const Epilogue& epilogue, int64_t begin, int64_t end);

/// The same for a single sample of a Linear layer: in and out are plain vectors.
void multiply_one(const Packed& weight, const float* in, float* out, const Epilogue& epilogue, int64_t begin,
                  int64_t end);

/// Sums of outer products at the kept blocks only, the weight gradient of a Linear layer:
///   grad[block][c][r] += sum over m of dy[m][c] * x[m][r]
/// for samples in block columns (pack_block_columns), and the output blocks [begin, end).
void grad_weight(const BsrPattern& pattern, const float* x_columns, const float* dy_columns, int64_t batch,
                 bool accumulate, float* grad, int64_t begin, int64_t end);

/// Row-major samples (batch x features, `stride` floats from one to the next) as [block][batch][size]: the
/// features of a block side by side, padded with zeros to `size`. For the blocks [begin, end).
void pack_block_columns(const float* samples, int64_t batch, int64_t features, int64_t stride, int64_t block,
                        int64_t size, float* columns, int64_t begin, int64_t end);

/// Floats that a block of x takes in block columns: padded so that whole vectors can be read.
int64_t padded_block(int64_t block);

}  // namespace hewn::kernels
