#include "hewn/kernels/reference/narrow/byte_matrix.h"

#include <algorithm>

#include "hewn/kernels/reference/narrow/byte_planes.h"

namespace hewn::kernels::reference {
namespace {

int64_t sum_of(const ByteProduct& product, const MatrixWeight::Tile& tile, int64_t j, int64_t column) {
  const MatrixWeight& weight = *product.weight->matrix();
  int64_t sum = 0;
  for (int32_t s = tile.first; s < tile.first + tile.direct + tile.loose; ++s) {
    const MatrixWeight::Step& step = weight.steps()[static_cast<size_t>(s)];
    for (int64_t r = 0; r < step.rows; ++r) {
      const int32_t offset = product.matrix_offsets[step.first + (step.loose ? r : 0)];
      if (offset == MatrixWeight::kNoOffset) continue;
      const uint32_t in = product.in[offset + (step.loose ? 0 : r * product.in_stride) + column];
      sum += product_of_words(in, weight.weights(step)[j * step.rows + r], product.in_zero);
    }
  }
  return sum;
}

}  // namespace

void multiply_matrix_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                           int64_t end) {
  const MatrixWeight& weight = *product.weight->matrix();
  for (int64_t t = begin; t < end; ++t) {
    const MatrixWeight::Tile& tile = weight.tiles()[static_cast<size_t>(t)];
    const int64_t rows =
        std::min<int64_t>(MatrixWeight::kOutputs, word_rows(weight.outputs() - tile.output) * kWordChannels);
    for (int64_t column = first; column < last; ++column) {
      for (int64_t j = 0; j < rows; ++j) {
        finish_byte(product, tile.output + j, column, sum_of(product, tile, j, column));
      }
    }
  }
}

void multiply_matrix_words_of_one(const ByteProduct& product, int64_t begin, int64_t end) {
  reference::multiply_matrix_words(product, 0, 1, begin, end);
}

}  // namespace hewn::kernels::reference
