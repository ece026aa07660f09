#include "hewn/runtime/op/product.h"

#include <array>

#include "hewn/kernels/multiply.h"
#include "hewn/runtime/op/work.h"
#include "hewn/runtime/shapes.h"

namespace hewn::runtime {
namespace {

using kernels::Position;

// Output pixels for which a tile's weights are used before the next tile. Of 1, 2, 4, 8 and 16, 4 was the
// fastest on resnet18 by a few per cent.
constexpr int64_t kGroup = 4;

/// The tiles of outputs [outputs.begin, outputs.end): one range, or one per chunk of a long input.
void multiply_outputs(const kernels::Packed& weight, const Work& work, std::span<const Position> positions,
                      const kernels::Epilogue& epilogue, const Range& outputs) {
  const auto& tiles = weight.tiles();
  const auto inside = [&](size_t i) {
    return tiles[i].output >= outputs.begin && tiles[i].output < outputs.end;
  };
  for (size_t begin = 0; begin < tiles.size(); ++begin) {
    if (!inside(begin)) continue;
    size_t end = begin + 1;
    while (end < tiles.size() && inside(end)) ++end;
    kernels::multiply(weight, work.from, work.to, work.columns, positions, epilogue,
                      static_cast<int64_t>(begin), static_cast<int64_t>(end));
    begin = end;
  }
}

}  // namespace

int64_t product_cost(const Node& node, std::span<const Shape> in, const Shape& out) {
  return saturating_product(weight_rows(node, in[0]), out.elements());
}

void run_product(const Work& work, int64_t part, int64_t parts) {
  const PackedLayer& layer = *work.layer;
  const kernels::ConvGeometry& window = work.node.window;
  const kernels::Epilogue epilogue{layer.bias.data(), work.add, work.relu};
  const int64_t line_groups = (work.out.width + kGroup - 1) / kGroup;
  const int64_t groups = line_groups * work.out.height;
  const int64_t cuts = (parts + groups - 1) / groups;
  const Range tasks = share(groups * cuts, part, parts);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t y = task / cuts / line_groups;
    const Range line = share(work.out.width, task / cuts % line_groups, line_groups);
    std::array<Position, static_cast<size_t>(kGroup)> positions;
    for (int64_t x = line.begin; x < line.end; ++x) {
      const int64_t shift = window.padding;
      positions[static_cast<size_t>(x - line.begin)] = {
          work.in.row(y * window.stride - shift, x * window.stride - shift), work.out.row(y, x)};
    }
    const std::span<const Position> group(positions.data(), static_cast<size_t>(line.end - line.begin));
    if (cuts == 1) {
      kernels::multiply(layer.weight, work.from, work.to, work.columns, group, epilogue, 0,
                        layer.weight.tile_count());
    } else {
      multiply_outputs(layer.weight, work, group, epilogue, share(layer.weight.outputs(), task % cuts, cuts));
    }
  }
}

}  // namespace hewn::runtime
