#include "hewn/flow/weights.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/kernels/bsr.h"

namespace hewn::flow {
namespace {

/// One group's weight as a matrix: at(row, output), rows in (tap, channel) order.
struct Matrix {
  const float* data;
  int64_t rows;
  int64_t outputs;
  int64_t channels;
  int64_t tap_stride;
  int64_t channel_stride;
  int64_t output_stride;

  float at(int64_t row, int64_t output) const {
    return data[row / channels * tap_stride + row % channels * channel_stride + output * output_stride];
  }
};

/// Time of a kept block of this size, over that of as many weights multiplied densely.
struct BlockCost {
  int64_t size;
  double cost;
};
constexpr BlockCost kBlockCosts[] = {{32, 1.0}, {16, 1.0}, {8, 1.1}, {4, 1.4}};

std::vector<uint8_t> kept_blocks(const Matrix& matrix, const Grid& grid) {
  std::vector<uint8_t> kept(static_cast<size_t>(grid.row_blocks() * grid.col_blocks()), 0);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    uint8_t* line = kept.data() + row / grid.block.rows * grid.col_blocks();
    for (int64_t j = 0; j < matrix.outputs; ++j) {
      if (matrix.at(row, j) != 0) line[j / grid.block.cols] = 1;
    }
  }
  return kept;
}

kernels::Packed pack_blocks(const Matrix& matrix, const Grid& grid, const uint8_t* kept) {
  const kernels::BsrPattern pattern = kernels::make_pattern(grid, kept);
  std::vector<float> values(static_cast<size_t>(pattern.value_floats()), 0.0F);
  kernels::each_block(pattern, values.data(), 0, grid.col_blocks(),
                      [&](float* block, int64_t, const kernels::BlockExtent& extent) {
                        for (int64_t j = 0; j < extent.cols; ++j) {
                          for (int64_t i = 0; i < extent.rows; ++i) {
                            block[j * grid.block.rows + i] = matrix.at(extent.row + i, extent.col + j);
                          }
                        }
                      });
  kernels::Packed packed = kernels::Packed::linear(pattern);
  packed.fill(values.data());
  packed.freeze();
  return packed;
}

void pack_group(const Matrix& matrix, Weight& out) {
  double best = 0.9;
  out.density = 1;
  Grid grid{matrix.rows, matrix.outputs, {std::min<int64_t>(matrix.rows, 512), 8}};
  std::vector<uint8_t> kept;
  for (const BlockCost& candidate : kBlockCosts) {
    const Grid blocks{matrix.rows, matrix.outputs, {candidate.size, candidate.size}};
    if (blocks.row_blocks() * blocks.col_blocks() < 8) continue;
    std::vector<uint8_t> flags = kept_blocks(matrix, blocks);
    const double density =
        static_cast<double>(std::count(flags.begin(), flags.end(), 1)) / static_cast<double>(flags.size());
    if (density * candidate.cost >= best) continue;
    best = density * candidate.cost;
    out.block = candidate.size;
    out.density = density;
    grid = blocks;
    kept = std::move(flags);
  }
  out.groups.push_back(pack_blocks(matrix, grid, kept.empty() ? nullptr : kept.data()));
}

}  // namespace

std::shared_ptr<const Weight> pack_weight(const Tensor& tensor, WeightKind kind, int64_t groups) {
  auto out = std::make_shared<Weight>();
  const Dims& dims = tensor.dims();
  const float* data = tensor.values<float>().data();
  if (kind == WeightKind::kConv) {
    for (size_t d = 2; d < dims.size(); ++d) out->taps *= dims[d];
    out->channels = dims[1];
    out->outputs = dims[0];
  } else {
    out->channels = dims[kind == WeightKind::kInOut ? 0 : 1];
    out->outputs = dims[kind == WeightKind::kInOut ? 1 : 0];
  }
  const int64_t rows = out->taps * out->channels;
  const int64_t outputs = out->outputs / groups;
  for (int64_t g = 0; g < groups; ++g) {
    Matrix matrix{data + g * outputs * rows, rows, outputs, out->channels, 1, out->taps, rows};
    if (kind == WeightKind::kInOut) matrix = {data, rows, outputs, out->channels, 0, outputs, 1};
    pack_group(matrix, *out);
  }
  return out;
}

}  // namespace hewn::flow
