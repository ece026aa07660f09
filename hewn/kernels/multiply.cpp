#include "hewn/kernels/multiply.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace hewn::kernels {

namespace {

// Tiles with the same inputs that run one after the other at a position, while these are in the L1 cache.
constexpr int64_t kSiblings = 2;

/// What a tile of the weight asks of the inner loop; weights and positions are left to the caller.
void describe_tile(const Packed& weight, const Packed::Tile& tile, const Epilogue& epilogue,
                   TileArguments& t) {
  t.runs = weight.runs(tile);
  t.run_count = tile.runs;
  t.weight_stride = tile.outputs;
  t.outputs = tile.outputs;
  t.accumulate = tile.accumulate;
  t.bias = epilogue.bias != nullptr && !tile.accumulate ? epilogue.bias + tile.output : nullptr;
  t.relu = epilogue.relu && tile.last;
}

TileArguments of_columns(int64_t columns) {
  TileArguments t;
  t.in_stride = columns;
  t.out_stride = columns;
  t.columns = columns;
  return t;
}

void put_tile(const Packed::Tile& tile, const Position& position, const float* in, float* out,
              const Epilogue& epilogue, TileArguments& t) {
  const int64_t at = (position.out + tile.output) * t.columns;
  t.in = in + position.in * t.columns;
  t.out = out + at;
  t.add = epilogue.add != nullptr && tile.last ? epilogue.add + at : nullptr;
}

std::span<const Packed::Tile> tiles_of(const Packed& weight, int64_t begin, int64_t end) {
  return {weight.tiles().data() + begin, static_cast<size_t>(end - begin)};
}

/// A single sample. Tiles take so little time here that what is done around them counts.
void multiply_column(const Packed& weight, std::span<const Packed::Tile> tiles, const float* in, float* out,
                     std::span<const Position> positions, const Epilogue& epilogue) {
  const auto run_tile = machine().tile_of_one;
  TileArguments t = of_columns(1);
  for (const Packed::Tile& tile : tiles) {
    describe_tile(weight, tile, epilogue, t);
    t.weight = weight.values(tile);
    for (const Position& position : positions) {
      put_tile(tile, position, in, out, epilogue, t);
      run_tile(t);
    }
  }
}

}  // namespace

void multiply(const Packed& weight, const float* in, float* out, int64_t columns,
              std::span<const Position> positions, const Epilogue& epilogue, int64_t begin, int64_t end) {
  assert(columns == 1 || (columns % kColumnStep == 0 && columns <= machine().panel_width));
  if (columns == 1)
    return multiply_column(weight, tiles_of(weight, begin, end), in, out, positions, epilogue);
  const auto run_tile = machine().tile;
  std::array<TileArguments, kSiblings> group;
  group.fill(of_columns(columns));
  const std::vector<Packed::Tile>& tiles = weight.tiles();
  for (int64_t first = begin; first < end;) {
    int64_t count = 0;
    do {
      const auto n = static_cast<size_t>(count);
      const Packed::Tile& tile = tiles[static_cast<size_t>(first + count)];
      describe_tile(weight, tile, epilogue, group[n]);
      group[n].weight = weight.values(tile);
      ++count;
    } while (count < kSiblings && first + count < end &&
             tiles[static_cast<size_t>(first + count)].same_inputs);
    for (const Position& position : positions) {
      for (int64_t n = 0; n < count; ++n) {
        TileArguments& t = group[static_cast<size_t>(n)];
        put_tile(tiles[static_cast<size_t>(first + n)], position, in, out, epilogue, t);
        run_tile(t);
      }
    }
    first += count;
  }
}

void multiply_one(const Packed& weight, const float* in, float* out, const Epilogue& epilogue, int64_t begin,
                  int64_t end) {
  const Position position;
  multiply_column(weight, tiles_of(weight, begin, end), in, out, {&position, 1}, epilogue);
}

int64_t padded_block(int64_t block) { return (block + kColumnStep - 1) / kColumnStep * kColumnStep; }

void pack_block_columns(const float* samples, int64_t batch, int64_t features, int64_t stride, int64_t block,
                        int64_t size, float* columns, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; ++b) {
    const int64_t first = b * block;
    const auto count = static_cast<size_t>(std::min(block, features - first));
    float* to = columns + b * batch * size;
    for (int64_t m = 0; m < batch; ++m, to += size) {
      std::memcpy(to, samples + m * stride + first, count * sizeof(float));
      std::fill(to + count, to + size, 0.0F);
    }
  }
}

void grad_weight(const BsrPattern& pattern, const float* x_columns, const float* dy_columns, int64_t batch,
                 bool accumulate, float* grad, int64_t begin, int64_t end) {
  const auto run_tile = machine().tile;
  const int64_t width = machine().panel_width;
  const int64_t outputs = machine().tile_outputs;
  const BlockShape block = pattern.grid.block;
  const int64_t size = padded_block(block.rows);
  const Run all{0, static_cast<int32_t>(batch)};
  std::array<float, static_cast<size_t>(kMaxOutputs) * 64> result{};
  TileArguments t;
  t.runs = &all;
  t.run_count = 1;
  t.in_stride = size;
  t.weight_stride = block.cols;
  t.out = result.data();
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const float* dy = dy_columns + col_block * batch * block.cols;
    for (int64_t i = pattern.begin[static_cast<size_t>(col_block)];
         i < pattern.begin[static_cast<size_t>(col_block) + 1]; ++i) {
      const float* x = x_columns + pattern.row[static_cast<size_t>(i)] * batch * size;
      float* to = grad + i * pattern.block_floats();
      for (int64_t c = 0; c < block.cols; c += outputs) {
        t.weight = dy + c;
        t.outputs = std::min(outputs, block.cols - c);
        for (int64_t r = 0; r < size; r += width) {
          t.in = x + r;
          t.columns = std::min(width, size - r);
          t.out_stride = t.columns;
          run_tile(t);
          const int64_t rows = std::min(t.columns, block.rows - r);
          for (int64_t j = 0; j < t.outputs; ++j) {
            float* into = to + (c + j) * block.rows + r;
            const float* sum = result.data() + j * t.columns;
            for (int64_t k = 0; k < rows; ++k) into[k] = accumulate ? into[k] + sum[k] : sum[k];
          }
        }
      }
    }
  }
}

}  // namespace hewn::kernels
