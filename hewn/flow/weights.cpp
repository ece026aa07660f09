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

constexpr double kWorthLeavingOut = 0.9;

/// Time of a kept block of this size, over that of as many weights multiplied densely.
double cost_of_block(int64_t size) { return size >= 16 ? 1.0 : size >= 8 ? 1.1 : 1.4; }

double density(const kernels::BsrPattern& pattern) {
  return static_cast<double>(pattern.kept()) / static_cast<double>(pattern.grid.blocks());
}

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

kernels::Packed pack(const kernels::BsrPattern& pattern, const std::vector<float>& values) {
  kernels::Packed packed = kernels::Packed::linear(pattern);
  packed.fill(values.data());
  packed.freeze();
  return packed;
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
  return pack(pattern, values);
}

/// The way that takes least time, and which blocks it keeps.
struct Choice {
  BlockChoice blocks;
  std::vector<uint8_t> kept;
};

Choice choose(const Matrix& matrix, int64_t block) {
  double best = kWorthLeavingOut;
  Choice out;
  const std::vector<int64_t> sizes =
      block > 0 ? std::vector<int64_t>{block} : std::vector<int64_t>{32, 16, 8, 4};
  for (const int64_t size : sizes) {
    const double cost = cost_of_block(size);
    const Grid grid{matrix.rows, matrix.outputs, {size, size}};
    if (grid.row_blocks() * grid.col_blocks() < 8) continue;
    std::vector<uint8_t> flags = kept_blocks(matrix, grid);
    const double density =
        static_cast<double>(std::count(flags.begin(), flags.end(), 1)) / static_cast<double>(flags.size());
    if (out.blocks.block == 0) out.blocks.density = density;
    if (density * cost >= best) continue;
    best = density * cost;
    out = {{size, density}, std::move(flags)};
  }
  return out;
}

/// The groups of a weight, one behind the other.
struct Matrices {
  int64_t taps = 1;
  int64_t channels = 0;
  int64_t outputs = 0;
  std::vector<Matrix> groups;
};

Matrices matrices_of(const Tensor& tensor, WeightKind kind, int64_t groups) {
  Matrices out;
  const Dims& dims = tensor.dims();
  const float* data = tensor.values<float>().data();
  if (kind == WeightKind::kConv) {
    for (size_t d = 2; d < dims.size(); ++d) out.taps *= dims[d];
    out.channels = dims[1];
    out.outputs = dims[0];
  } else {
    out.channels = dims[kind == WeightKind::kInOut ? 0 : 1];
    out.outputs = dims[kind == WeightKind::kInOut ? 1 : 0];
  }
  const int64_t rows = out.taps * out.channels;
  const int64_t outputs = out.outputs / groups;
  for (int64_t g = 0; g < groups; ++g) {
    Matrix matrix{data + g * outputs * rows, rows, outputs, out.channels, 1, out.taps, rows};
    if (kind == WeightKind::kInOut) matrix = {data, rows, outputs, out.channels, 0, outputs, 1};
    out.groups.push_back(matrix);
  }
  return out;
}

/// The known blocks of a weight, where leaving out the others saves a tenth of the time. Else null, and the
/// weight is not much larger than they are.
const KeptWeight* known_blocks(const Tensor& tensor, WeightKind kind, int64_t groups) {
  const KeptWeight* kept = tensor.kept();
  if (kept == nullptr || groups != 1 || kind == WeightKind::kInOut) return nullptr;
  const BlockShape& block = kept->pattern.grid.block;
  const double cost = density(kept->pattern) * cost_of_block(std::min(block.rows, block.cols));
  return cost < kWorthLeavingOut ? kept : nullptr;
}

}  // namespace

BlockChoice choose_blocks(const Tensor& tensor, WeightKind kind, int64_t groups, int64_t block) {
  if (const KeptWeight* kept = known_blocks(tensor, kind, groups)) {
    return {kept->pattern.grid.block.cols, density(kept->pattern)};
  }
  const Matrices matrices = matrices_of(tensor, kind, groups);
  BlockChoice out{0, 0};
  for (const Matrix& matrix : matrices.groups) {
    const BlockChoice one = choose(matrix, block).blocks;
    out.block = std::max(out.block, one.block);
    out.density += one.density / static_cast<double>(groups);
  }
  return out;
}

std::shared_ptr<const Weight> pack_weight(const Tensor& tensor, WeightKind kind, int64_t groups,
                                          int64_t block) {
  auto out = std::make_shared<Weight>();
  if (const KeptWeight* kept = known_blocks(tensor, kind, groups)) {
    const Grid& grid = kept->pattern.grid;
    out->taps = kept->taps;
    out->channels = grid.rows / kept->taps;
    out->outputs = grid.cols;
    out->block = grid.block.cols;
    out->density = density(kept->pattern);
    out->groups.push_back(pack(kept->pattern, kept->values));
    return out;
  }
  const Matrices matrices = matrices_of(tensor, kind, groups);
  out->taps = matrices.taps;
  out->channels = matrices.channels;
  out->outputs = matrices.outputs;
  out->density = 0;
  for (const Matrix& matrix : matrices.groups) {
    Choice choice = choose(matrix, block);
    const int64_t size = choice.blocks.block;
    // Without blocks to leave out: tiles of all rows, as wide as the kernel takes.
    const BlockShape shape =
        size > 0 ? BlockShape{size, size} : BlockShape{std::min<int64_t>(matrix.rows, 512), 8};
    const Grid grid{matrix.rows, matrix.outputs, shape};
    out->groups.push_back(pack_blocks(matrix, grid, choice.kept.empty() ? nullptr : choice.kept.data()));
    out->block = std::max(out->block, size);
    out->density += (size > 0 ? choice.blocks.density : 1) / static_cast<double>(groups);
  }
  return out;
}

WeightOf weight_of(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNone) return {};
  const Tensor* tensor = graph.constant(node.inputs[1]);
  if (tensor == nullptr || tensor->type() != Type::kFloat || tensor->elements() == 0) return {};
  if (node.op == "Conv" && tensor->dims().size() >= 3) {
    const int64_t groups = node.integer("group", 1);
    if (groups < 1 || tensor->dims()[0] % groups != 0) return {};
    return {tensor, WeightKind::kConv, groups};
  }
  if (tensor->dims().size() != 2) return {};
  if (node.op == "MatMul") return {tensor, WeightKind::kInOut, 1};
  if (node.op != "Gemm") return {};
  return {tensor, node.integer("transB", 0) != 0 ? WeightKind::kOutIn : WeightKind::kInOut, 1};
}

}  // namespace hewn::flow
