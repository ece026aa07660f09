#include "hewn/flow/int8/quantise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hewn/core/error.h"
#include "hewn/flow/int8/byte_weights.h"
#include "hewn/flow/int8/observe.h"
#include "hewn/flow/narrow.h"
#include "hewn/flow/passes/simplify.h"

namespace hewn::flow {
namespace {

constexpr float kLeastUnit = 0x1p-40F;
constexpr float kMostReach = 0x1p60F;

/// Why a node with a constant weight cannot be one of bytes, or nothing.
std::string why_not(const WeightOf& weight) {
  const Dims& dims = weight.tensor->dims();
  if (weight.kind == WeightKind::kConv && dims.size() != 4) return "its windows have one dimension";
  const int64_t outputs = dims[static_cast<size_t>(output_axis(weight.kind))];
  const int64_t rows = weight.tensor->elements() / outputs;
  if (rows > kernels::kMostByteRows) return "sums of so many products exceed 32 bits";
  if (weight.groups > 1 &&
      (dims[1] % kernels::kWordChannels != 0 || outputs / weight.groups % kernels::kWordChannels != 0)) {
    return "its groups have no multiple of four channels";
  }
  return "";
}

kernels::ByteScale scale_of(const Extent& extent) {
  const float reach = extent.most - extent.least;
  kernels::ByteScale out;
  out.scale = std::max(reach / 255, kLeastUnit);
  out.zero = static_cast<int32_t>(std::clamp(std::nearbyint(-extent.least / out.scale), 0.0F, 255.0F));
  return out;
}

}  // namespace

std::vector<QuantisedLayer> layers_of(const Graph& graph) {
  std::vector<QuantisedLayer> out;
  for (const Node& node : graph.nodes) {
    const WeightOf weight = weight_of(graph, node);
    if (weight.tensor == nullptr) continue;
    const bool bytes = byte_weight_of(graph, node).tensor != nullptr && graph.bytes.contains(node.inputs[0]);
    out.push_back({layer_name(graph, node), bytes, bytes ? "" : why_not(weight)});
  }
  return out;
}

std::vector<QuantisedLayer> quantise(Graph& graph, const std::vector<std::vector<Tensor>>& batches,
                                     const QuantiseOptions& options) {
  if (batches.empty()) throw Error("calibration: expected inputs to find the range of activations on");
  if (!(options.percentile > 50 && options.percentile <= 100)) {
    throw Error(str("percentile: expected above 50, up to 100, got ", options.percentile));
  }
  simplify(graph);
  std::set<int32_t> weights;
  std::vector<QuantisedLayer> out;
  for (const Node& node : graph.nodes) {
    const WeightOf weight = weight_of(graph, node);
    if (weight.tensor == nullptr) continue;
    QuantisedLayer layer{layer_name(graph, node), false, why_not(weight)};
    const bool kept = std::find(options.keep.begin(), options.keep.end(), layer.name) != options.keep.end();
    if (kept) layer.why = "asked for";
    layer.bytes = layer.why.empty();
    if (layer.bytes) weights.insert(node.inputs[1]);
    out.push_back(std::move(layer));
  }
  std::vector<std::string> names;
  for (const QuantisedLayer& layer : out) names.push_back(layer.name);
  check_kept(options.keep, names);
  const NarrowValues narrow = narrow_values(graph, weights);
  const auto extents = observe(graph, {narrow.values.begin(), narrow.values.end()}, batches,
                               options.percentile, options.threads);
  for (const auto& [value, extent] : extents) {
    if (extent.most - extent.least > kMostReach) {
      throw Error("calibration: numbers inside the network are too large for 8 bits");
    }
    graph.bytes[value] = scale_of(extent);
  }
  for (const auto& [value, other] : narrow.like) {
    int32_t first = other;
    while (narrow.like.contains(first)) first = narrow.like.at(first);
    graph.bytes[value] = graph.bytes.at(first);
  }
  for (const Node& node : graph.nodes) {
    if (node.inputs.size() < 2 || !weights.contains(node.inputs[1])) continue;
    const WeightOf weight = weight_of(graph, node);
    if (weight.tensor == nullptr || graph.weight_bytes.contains(node.inputs[1])) continue;
    for (const float number : weight.tensor->values<float>()) {
      if (!(std::abs(number) < kMostReach)) {
        throw Error(str("layer ", layer_name(graph, node), ": its weights are too large for 8 bits"));
      }
    }
    Tensor rounded(weight.tensor->spec());
    std::copy(weight.tensor->values<float>().begin(), weight.tensor->values<float>().end(),
              rounded.values<float>().begin());
    graph.weight_bytes[node.inputs[1]] = round_to_bytes(rounded, weight.kind);
    graph.constants[node.inputs[1]] = std::move(rounded);
  }
  return out;
}

}  // namespace hewn::flow
