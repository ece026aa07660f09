#include "hewn/kernels/reference/narrow/pair_planes.h"

#include <algorithm>
#include <cmath>

namespace hewn::kernels::reference {
namespace {

float sum_of(const PairProduct& product, const MatrixWeight::Tile& tile, int64_t j, int64_t column) {
  const MatrixWeight& weight = *product.weight;
  float sum = 0;
  for (int32_t s = tile.first; s < tile.first + tile.direct + tile.loose; ++s) {
    const MatrixWeight::Step& step = weight.steps()[static_cast<size_t>(s)];
    for (int64_t r = 0; r < step.rows; ++r) {
      const int32_t offset = product.offsets[step.first + (step.loose ? r : 0)];
      if (offset == MatrixWeight::kNoOffset) continue;
      const uint32_t in = product.in[offset + (step.loose ? 0 : r * product.in_stride) + column];
      const uint32_t w = weight.weights(step)[j * step.rows + r];
      sum = std::fma(float_of(in & 0xffffU), float_of(w & 0xffffU), sum);
      sum = std::fma(float_of(in >> 16), float_of(w >> 16), sum);
    }
  }
  return sum;
}

void one_output(const PairProduct& product, const MatrixWeight::Tile& tile, int64_t j, int64_t column) {
  const int64_t output = tile.output + j;
  const int64_t at = output / 2 * product.out_stride + column;
  const int64_t shift = 16 * (output % 2);
  float y = sum_of(product, tile, j, column) + product.bias[output];
  if (product.add != nullptr) y += float_of(product.add[at] >> shift & 0xffffU);
  if (product.relu) y = std::max(y, 0.0F);
  if (product.out == nullptr) {
    product.out_floats[output * product.out_stride + column] = y;
    return;
  }
  if (shift == 0) product.out[at] = 0;
  product.out[at] |= nearest_bf16(y) << shift;
}

}  // namespace

void multiply_pairs(const PairProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const MatrixWeight::Tile& tile = product.weight->tiles()[static_cast<size_t>(t)];
    const int64_t rows = std::min<int64_t>(MatrixWeight::kOutputs, product.weight->outputs() - tile.output);
    for (int64_t column = first; column < last; ++column) {
      for (int64_t j = 0; j < rows; ++j) one_output(product, tile, j, column);
    }
  }
}

void multiply_pairs_of_one(const PairProduct& product, int64_t begin, int64_t end) {
  reference::multiply_pairs(product, 0, 1, begin, end);
}

}  // namespace hewn::kernels::reference
