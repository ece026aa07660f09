#include "hewn/deploy/smaller/shrink.h"

#include <algorithm>
#include <numeric>

#include "hewn/runtime/flow_graph.h"

namespace hewn::deploy {
namespace {

// Larger blocks than these lie in no network; a common multiple of odd ones would keep all channels.
constexpr int64_t kMostUnit = 4096;

/// Which blocks of a weight hold something, or all of them.
std::vector<uint8_t> used_blocks(const WeightLayout& layout, const flow::Tensor& weight, bool all) {
  const Grid& grid = layout.grid;
  std::vector<uint8_t> out(static_cast<size_t>(grid.blocks()), all ? 1 : 0);
  const auto values = weight.values<float>();
  for (size_t i = 0; !all && i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (values[i] != 0)
      out[static_cast<size_t>(grid.block_of(layout.row_of(at % grid.rows), at / grid.rows))] = 1;
  }
  return out;
}

runtime::Layer smaller_layer(const runtime::Layer& before, const flow::Tensor& weight,
                             const flow::Tensor& bias, int64_t taps, bool pruned) {
  const int64_t outputs = weight.dims()[0];
  const int64_t rows = weight.elements() / outputs;
  BlockShape block = before.pattern.grid.block;
  if (!pruned) block = {std::min(block.rows, rows), std::min(block.cols, outputs)};
  const WeightLayout layout{{rows, outputs, block}, taps};
  runtime::Layer out;
  out.bf16 = before.bf16;
  out.pattern = kernels::make_pattern(layout.grid, used_blocks(layout, weight, !pruned).data());
  out.values.resize(static_cast<size_t>(out.pattern.value_floats()));
  kernels::gather_blocks(out.pattern, layout, weight.values<float>().data(), nullptr, out.values.data(), 0,
                         layout.grid.col_blocks());
  out.bias.assign(bias.values<float>().begin(), bias.values<float>().end());
  return out;
}

}  // namespace

int64_t shrink_unit(const Blocks& blocks) {
  int64_t unit = 1;
  for (const auto& [name, kept] : blocks) {
    const BlockShape& block = kept.grid().block;
    unit = std::lcm(unit, std::lcm(block.rows, block.cols));
    if (unit > kMostUnit) return kMostUnit;
  }
  return unit;
}

flow::Shrunk shrink(runtime::ModelData& model, const std::vector<int64_t>& input, const Blocks& pruned) {
  flow::Graph graph = flow_graph(model, input);
  flow::Shrunk done = flow::shrink(graph, shrink_unit(pruned));
  std::map<std::string, const flow::Node*> nodes;
  for (const flow::Node& node : graph.nodes) nodes[node.name] = &node;
  for (const flow::LayerCut& cut : done.layers) {
    const flow::Node& smaller = *nodes.at(cut.layer);
    const flow::Tensor& weight = graph.constants.at(smaller.inputs[1]);
    for (runtime::Node& node : model.graph.nodes) {
      if (node.name != cut.layer) continue;
      node.outputs = weight.dims()[0];
      model.layers[node.name] =
          smaller_layer(model.layers.at(node.name), weight, graph.constants.at(smaller.inputs[2]),
                        node.window.taps(), pruned.contains(node.name));
    }
  }
  return done;
}

}  // namespace hewn::deploy
