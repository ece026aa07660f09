#include "hewn/flow/int8/quantise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/flow/int8/byte_weights.h"
#include "hewn/flow/int8/observe.h"
#include "hewn/flow/simplify.h"

namespace hewn::flow {
namespace {

constexpr float kLeastUnit = 0x1p-40F;
constexpr float kMostReach = 0x1p60F;

std::string layer_name(const Graph& graph, const Node& node) {
  return node.name.empty() ? graph.name(node.outputs[0]) : node.name;
}

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

/// Where bytes go along: a value can stay in 8 bits from the product that makes it to those that read it.
class Marker {
 public:
  explicit Marker(Graph& graph) : graph_(graph), made_(makers(graph)), uses_(count_uses(graph)) {}

  /// Values that are to be bytes, and for those that must have the scale of another one that one.
  std::set<int32_t> values;
  std::map<int32_t, int32_t> like;

  void read_by_products(const std::set<int32_t>& weights) {
    for (const Node& node : graph_.nodes) {
      if (node.inputs.size() > 1 && weights.contains(node.inputs[1])) {
        values.insert(node.inputs[0]);
        products_.insert(node.outputs[0]);
      }
    }
    for (const Node& node : graph_.nodes) {
      if (node.op == "GlobalAveragePool") values.insert(node.inputs[0]);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) go_back(*node);
  }

 private:
  /// From what is bytes behind a node to what is before it.
  void go_back(const Node& node) {
    const int32_t out = node.outputs[0];
    if (node.op == "MaxPool" && values.contains(out) && !graph_.constant(node.inputs[0])) {
      values.insert(node.inputs[0]);
      like[out] = node.inputs[0];
    }
    if (node.op != "Add" || !behind_add(out)) return;
    for (const int32_t side : node.inputs) {
      if (uses_[static_cast<size_t>(side)] == 1 && products_.contains(side)) values.insert(side);
    }
  }
  /// Whether the sum, or what a relu makes of it, is bytes.
  bool behind_add(int32_t sum) const {
    if (values.contains(sum)) return true;
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
      return node.op == "Relu" && node.inputs[0] == sum && values.contains(node.outputs[0]);
    });
  }

  Graph& graph_;
  std::vector<int32_t> made_;
  std::vector<int32_t> uses_;
  std::set<int32_t> products_;
};

/// Throws Error that has the names there are.
void check_kept(const std::vector<std::string>& keep, const std::vector<QuantisedLayer>& layers) {
  std::vector<std::string> names;
  for (const QuantisedLayer& layer : layers) names.push_back(layer.name);
  for (const std::string& name : keep) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(str("keep-f32: there is no layer ", name, "; there are ", join(names)));
  }
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
  check_kept(options.keep, out);
  Marker marker(graph);
  marker.read_by_products(weights);
  const auto extents = observe(graph, {marker.values.begin(), marker.values.end()}, batches,
                               options.percentile, options.threads);
  for (const auto& [value, extent] : extents) {
    if (extent.most - extent.least > kMostReach) {
      throw Error("calibration: numbers inside the network are too large for 8 bits");
    }
    graph.bytes[value] = scale_of(extent);
  }
  for (const auto& [value, other] : marker.like) {
    int32_t first = other;
    while (marker.like.contains(first)) first = marker.like.at(first);
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
