#include "hewn/kernels/reference/narrow/byte_planes.h"

#include <algorithm>
#include <cmath>

namespace hewn::kernels::reference {
namespace {

int64_t byte_at(uint32_t word, int64_t b) { return word >> (8 * b) & 255U; }
int64_t weight_at(uint32_t word, int64_t b) { return static_cast<int8_t>(word >> (8 * b) & 255U); }

/// One output of one column.
void one_output(const ByteProduct& product, const ByteWeight::Tile& tile, int64_t j, int64_t column) {
  int64_t sum = 0;
  for (int64_t i = 0; i < tile.count; ++i) {
    const uint32_t in = product.in[product.offsets[tile.first + i] + column];
    sum += product_of_words(in, product.weight->weights(tile)[i * tile.outputs + j], product.in_zero);
  }
  finish_byte(product, tile.output + j, column, sum);
}

}  // namespace

int64_t product_of_words(uint32_t in, uint32_t weight, int64_t in_zero) {
  int64_t sum = 0;
  for (int64_t b = 0; b < 4; ++b) sum += (byte_at(in, b) - in_zero) * weight_at(weight, b);
  return sum;
}

void finish_byte(const ByteProduct& product, int64_t output, int64_t column, int64_t sum) {
  float y = std::fma(static_cast<float>(sum), product.scale[output], product.bias[output]);
  if (product.out == nullptr) {
    if (output >= product.weight->outputs()) return;
    product.out_floats[output * product.out_stride + column] = product.relu ? std::max(y, 0.0F) : y;
    return;
  }
  const int64_t at = output / 4 * product.out_stride + column;
  const int64_t lane = output % 4;
  if (product.add != nullptr) {
    y = std::fma(static_cast<float>(byte_at(product.add[at], lane) - product.add_zero), product.add_scale, y);
  }
  const float low = product.relu ? 0.0F : static_cast<float>(-product.zero);
  const float steps = std::nearbyint(std::clamp(y, low, static_cast<float>(255 - product.zero)));
  const auto byte = static_cast<uint32_t>(static_cast<int32_t>(steps) + product.zero);
  product.out[at] = (product.out[at] & ~(255U << (8 * lane))) | byte << (8 * lane);
}

void multiply_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const ByteWeight::Tile& tile = product.weight->tiles()[static_cast<size_t>(t)];
    for (int64_t column = first; column < last; ++column) {
      for (int64_t j = 0; j < tile.outputs; ++j) one_output(product, tile, j, column);
    }
  }
}

void multiply_words_of_one(const ByteProduct& product, int64_t begin, int64_t end) {
  reference::multiply_words(product, 0, 1, begin, end);
}

}  // namespace hewn::kernels::reference
