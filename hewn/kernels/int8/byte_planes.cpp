#include "hewn/kernels/int8/byte_planes.h"

#include <algorithm>
#include <array>

namespace hewn::kernels {
namespace {

// Columns that a tile does at a time, while its inputs are in the L1 cache; and words of the input that serve
// all tiles before the next ones, which stay in the L2 cache beside the weights.
constexpr int64_t kChunk = 96;
constexpr int64_t kGroupWords = int64_t{128} * 1024;
constexpr int64_t kFewestChunks = 4;

// Tiles with the same inputs that run one after the other on a chunk.
constexpr int64_t kPair = 2;

/// What all tiles of a product have in common.
ByteTile common_tile(const ByteProduct& product) {
  ByteTile t;
  t.out_stride = product.out_stride;
  t.add_scale = product.add_scale;
  t.add_zero = product.add_zero;
  t.zero = product.zero;
  t.least = product.relu ? product.zero : 0;
  t.relu = product.relu && product.out == nullptr;
  return t;
}

/// And what is its own.
void become(const ByteProduct& product, const ByteWeight::Tile& tile, ByteTile& t) {
  t.offsets = product.offsets + tile.first;
  t.count = tile.count;
  t.weight = product.weight->weights(tile);
  t.outputs = tile.outputs;
  t.start = product.start + tile.output;
  t.scale = product.scale + tile.output;
  t.bias = product.bias + tile.output;
  t.out_rows = std::min<int64_t>(tile.outputs, product.weight->outputs() - tile.output);
}

void place_tile(const ByteProduct& product, const ByteWeight::Tile& tile, int64_t column, ByteTile& t) {
  const int64_t word = tile.output / kWordChannels * product.out_stride + column;
  t.in = product.in + column;
  if (product.out != nullptr) t.out = product.out + word;
  if (product.add != nullptr) t.add = product.add + word;
  if (product.out == nullptr) t.out_floats = product.out_floats + tile.output * product.out_stride + column;
}

}  // namespace

std::vector<int32_t> word_offsets(const ByteWeight& weight, std::span<const int64_t> taps, int64_t stride) {
  const int64_t words = word_rows(weight.channels());
  std::vector<int32_t> out;
  out.reserve(weight.inputs().size());
  for (const int32_t input : weight.inputs()) {
    out.push_back(static_cast<int32_t>(taps[static_cast<size_t>(input / words)] + input % words * stride));
  }
  return out;
}

std::vector<int32_t> starts_of(const ByteWeight& weight, int32_t in_zero, const ByteMachine& machine) {
  std::vector<int32_t> out(weight.sums().size() + 8, 0);
  for (size_t j = 0; j < weight.sums().size(); ++j) out[j] = (machine.less - in_zero) * weight.sums()[j];
  return out;
}

void multiply_words(const ByteProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  const auto run_tile = product.machine->tile;
  const std::vector<ByteWeight::Tile>& tiles = product.weight->tiles();
  const int64_t rows = word_rows(product.weight->channels());
  const int64_t group = kChunk * std::max(kFewestChunks, kGroupWords / (kChunk * std::max<int64_t>(rows, 1)));
  std::array<ByteTile, kPair> pair;
  pair.fill(common_tile(product));
  for (int64_t from = first; from < last; from += group) {
    const int64_t to = std::min(last, from + group);
    for (int64_t tile = begin; tile < end;) {
      int64_t count = 0;
      do {
        become(product, tiles[static_cast<size_t>(tile + count)], pair[static_cast<size_t>(count)]);
        ++count;
      } while (count < kPair && tile + count < end && tiles[static_cast<size_t>(tile + count)].same_inputs);
      for (int64_t column = from; column < to; column += kChunk) {
        const int64_t left = (to - column + kByteColumnStep - 1) / kByteColumnStep * kByteColumnStep;
        for (int64_t n = 0; n < count; ++n) {
          ByteTile& t = pair[static_cast<size_t>(n)];
          t.columns = std::min(kChunk, left);
          place_tile(product, tiles[static_cast<size_t>(tile + n)], column, t);
          run_tile(t);
        }
      }
      tile += count;
    }
  }
}

void multiply_words_of_one(const ByteProduct& product, int64_t begin, int64_t end) {
  ByteTile t = common_tile(product);
  t.columns = 1;
  for (int64_t i = begin; i < end; ++i) {
    const ByteWeight::Tile& tile = product.weight->tiles()[static_cast<size_t>(i)];
    become(product, tile, t);
    place_tile(product, tile, 0, t);
    product.machine->tile_of_one(t);
  }
}

}  // namespace hewn::kernels
