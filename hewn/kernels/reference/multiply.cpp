#include "hewn/kernels/reference/multiply.h"

#include <vector>

#include "hewn/kernels/reference/tile.h"

namespace hewn::kernels::reference {

void multiply(const Packed& weight, const float* in, float* out, int64_t columns,
              std::span<const Position> positions, const Epilogue& epilogue, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const Packed::Tile& of = weight.tiles()[static_cast<size_t>(i)];
    TileArguments t;
    t.runs = weight.runs(of);
    t.run_count = of.runs;
    t.weight = weight.values(of);
    t.weight_stride = t.outputs = of.outputs;
    t.columns = t.in_stride = t.out_stride = columns;
    t.accumulate = of.accumulate;
    t.bias = of.accumulate || epilogue.bias == nullptr ? nullptr : epilogue.bias + of.output;
    t.relu = of.last && epilogue.relu;
    for (const Position& position : positions) {
      const int64_t first = (position.out + of.output) * columns;
      t.in = in + position.in * columns;
      t.out = out + first;
      t.add = !of.last || epilogue.add == nullptr ? nullptr : epilogue.add + first;
      tile(t);
    }
  }
}

void multiply_one(const Packed& weight, const float* in, float* out, const Epilogue& epilogue, int64_t begin,
                  int64_t end) {
  const Position position;
  reference::multiply(weight, in, out, 1, {&position, 1}, epilogue, begin, end);
}

void grad_weight(const BsrPattern& pattern, const float* x_columns, const float* dy_columns, int64_t batch,
                 bool accumulate, float* grad, int64_t begin, int64_t end) {
  const BlockShape block = pattern.grid.block;
  const int64_t size = padded_block(block.rows);
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const auto out = static_cast<size_t>(col_block);
    for (int64_t i = pattern.begin[out]; i < pattern.begin[out + 1]; ++i) {
      const float* x = x_columns + pattern.row[static_cast<size_t>(i)] * batch * size;
      const float* dy = dy_columns + col_block * batch * block.cols;
      for (int64_t c = 0; c < block.cols; ++c) {
        for (int64_t r = 0; r < block.rows; ++r) {
          float& to = grad[(i * block.cols + c) * block.rows + r];
          double sum = accumulate ? to : 0.0;
          for (int64_t m = 0; m < batch; ++m) {
            sum += static_cast<double>(dy[m * block.cols + c]) * x[m * size + r];
          }
          to = static_cast<float>(sum);
        }
      }
    }
  }
}

void pack_block_columns(const float* samples, int64_t batch, int64_t features, int64_t stride, int64_t block,
                        int64_t size, float* columns, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; ++b) {
    for (int64_t m = 0; m < batch; ++m) {
      for (int64_t k = 0; k < size; ++k) {
        const int64_t feature = b * block + k;
        const bool inside = k < block && feature < features;
        columns[(b * batch + m) * size + k] = inside ? samples[m * stride + feature] : 0.0F;
      }
    }
  }
}

}  // namespace hewn::kernels::reference
