#include "hewn/flow/bf16/halve.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/narrow.h"
#include "hewn/flow/passes/simplify.h"
#include "hewn/kernels/bf16/pair_planes.h"

namespace hewn::flow {
namespace {

/// Why a node with a constant weight cannot be one of bf16, or nothing.
std::string why_not_half(const WeightOf& weight) {
  const Dims& dims = weight.tensor->dims();
  if (weight.kind == WeightKind::kConv && dims.size() != 4) return "its windows have one dimension";
  const int64_t outputs = dims[weight.kind == WeightKind::kInOut ? 1 : 0] / weight.groups;
  if (weight.groups > 1 && (dims[1] % kernels::kPairChannels != 0 || outputs % kernels::kPairChannels != 0)) {
    return "its groups have an odd number of channels";
  }
  return "";
}

Tensor nearest_of(const Tensor& tensor, const std::string& name) {
  Tensor out(tensor.spec());
  const auto from = tensor.values<float>();
  auto to = out.values<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = kernels::float_of(kernels::nearest_bf16(from[i]));
    if (to[i] == 0) to[i] = 0;  // without a sign: files leave out what has no bits
    if (!std::isfinite(to[i])) throw Error(str("layer ", name, ": its weights are too large for bf16"));
  }
  return out;
}

}  // namespace

std::vector<HalvedLayer> to_bf16(Graph& graph, const std::vector<std::string>& keep) {
  simplify(graph);
  std::vector<HalvedLayer> out;
  std::vector<std::string> names;
  std::set<int32_t> weights;
  for (const Node& node : graph.nodes) {
    const WeightOf weight = weight_of(graph, node);
    if (weight.tensor == nullptr) continue;
    HalvedLayer layer{layer_name(graph, node), false, why_not_half(weight)};
    if (std::find(keep.begin(), keep.end(), layer.name) != keep.end()) layer.why = "asked for";
    layer.halves = layer.why.empty();
    if (layer.halves) weights.insert(node.inputs[1]);
    names.push_back(layer.name);
    out.push_back(std::move(layer));
  }
  check_kept(keep, names);
  for (const Node& node : graph.nodes) {
    if (node.inputs.size() < 2 || !weights.contains(node.inputs[1])) continue;
    if (!graph.weight_halves.insert(node.inputs[1]).second) continue;
    Tensor& tensor = graph.constants.at(node.inputs[1]);
    tensor = nearest_of(tensor, layer_name(graph, node));
  }
  graph.halves = narrow_values(graph, weights).values;
  return out;
}

WeightOf half_weight_of(const Graph& graph, const Node& node) {
  const WeightOf weight = weight_of(graph, node);
  if (weight.tensor == nullptr || !graph.weight_halves.contains(node.inputs[1])) return {};
  return graph.halves.contains(node.inputs[0]) && why_not_half(weight).empty() ? weight : WeightOf{};
}

std::string bf16_machine() {
  const kernels::PairMachine* machine = kernels::pair_machine();
  return machine == nullptr ? "" : machine->name;
}

std::shared_ptr<const PairWeights> WeightCache::get_pairs(const Tensor& tensor, WeightKind kind,
                                                          int64_t groups) {
  auto& weights = pair_weights_[{tensor.identity(), static_cast<int64_t>(kind) + 4 * groups}];
  if (weights.weight != nullptr) return weights.weight;
  const Dims& dims = tensor.dims();
  const bool turned = kind == WeightKind::kInOut;
  const int64_t outputs = dims[turned ? 1 : 0];
  const int64_t channels = dims[turned ? 0 : 1];
  const int64_t taps = tensor.elements() / std::max<int64_t>(outputs * channels, 1);
  // Outputs x taps x channels.
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  const float* from = tensor.values<float>().data();
  for (int64_t j = 0; j < outputs; ++j) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        values[static_cast<size_t>((j * taps + t) * channels + c)] =
            turned ? from[c * outputs + j] : from[(j * channels + c) * taps + t];
      }
    }
  }
  auto out = std::make_shared<PairWeights>();
  for (int64_t g = 0; g < groups; ++g) {
    out->push_back(kernels::pair_weight(values.data() + g * (outputs / groups) * taps * channels,
                                        outputs / groups, taps, channels));
  }
  weights = {tensor, std::move(out)};
  return weights.weight;
}

}  // namespace hewn::flow
