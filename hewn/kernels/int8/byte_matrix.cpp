#include "hewn/kernels/int8/byte_matrix.h"

#include <algorithm>

namespace hewn::kernels {

void multiply_matrix_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin,
                           int64_t end) {
  product.machine->matrix(product, first, last, begin, end);
}

void multiply_matrix_words_of_one(const ByteProduct& product, int64_t begin, int64_t end) {
  product.machine->matrix_of_one(product, begin, end);
}

ByteTile behind_matrix(const ByteProduct& product, const MatrixWeight::Tile& tile) {
  ByteTile t;
  t.out_stride = product.out_stride;
  t.add_scale = product.add_scale;
  t.add_zero = product.add_zero;
  t.zero = product.zero;
  t.least = product.relu ? product.zero : 0;
  t.relu = product.relu && product.out == nullptr;
  t.start = product.start + tile.output;
  t.scale = product.scale + tile.output;
  t.bias = product.bias + tile.output;
  t.out_rows = std::min<int64_t>(MatrixWeight::kOutputs, product.weight->outputs() - tile.output);
  t.outputs = word_rows(t.out_rows) * kWordChannels;
  const int64_t row = tile.output / kWordChannels * product.out_stride;
  if (product.out != nullptr) t.out = product.out + row;
  if (product.add != nullptr) t.add = product.add + row;
  if (product.out == nullptr) t.out_floats = product.out_floats + tile.output * product.out_stride;
  return t;
}

}  // namespace hewn::kernels
