#pragma once

#include "hewn/kernels/int8/byte_planes.h"

namespace hewn::kernels {

/// As multiply_words, with the weight's matrix: for the columns [first, last), and up to seven more to a
/// multiple of kByteColumnStep, and the tiles [begin, end) of the matrix. Up to fifteen columns more are
/// read. The machine must have it.
void multiply_matrix_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                           int64_t end);

/// For a single column: rows of words, or floats, lie side by side.
void multiply_matrix_words_of_one(const ByteProduct& product, int64_t begin, int64_t end);

/// What comes behind the sums of a matrix's tile. Its columns and places are still to be set.
ByteTile behind_matrix(const ByteProduct& product, const MatrixWeight::Tile& tile);

}  // namespace hewn::kernels
