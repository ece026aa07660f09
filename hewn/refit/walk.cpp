#include "hewn/refit/walk.h"

#include <algorithm>
#include <set>

namespace hewn::refit {
namespace {

flow::Port port_for(int32_t value, const flow::Tensor& example) {
  return {value, {example.type(), flow::Dims(example.dims().size(), -1)}};
}

}  // namespace

Part::Part(const flow::Graph& graph, size_t first, size_t last, const Values& before, int32_t extra)
    : needed_(graph.values.size(), false) {
  for (size_t i = last; i < graph.nodes.size(); ++i) {
    for (const int32_t value : graph.nodes[i].inputs) {
      if (value != flow::kNone) needed_[static_cast<size_t>(value)] = true;
    }
  }
  for (const flow::Port& port : graph.outputs) needed_[static_cast<size_t>(port.value)] = true;
  if (extra != flow::kNone) needed_[static_cast<size_t>(extra)] = true;

  flow::Graph part;
  part.values = graph.values;
  part.constants = graph.constants;
  std::set<int32_t> read;
  for (size_t i = first; i < last; ++i) {
    const flow::Node& node = graph.nodes[i];
    part.nodes.push_back(node);
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const int32_t value : node.outputs) {
      if (value != flow::kNone && needed_[static_cast<size_t>(value)]) outputs_.push_back(value);
    }
  }
  for (const auto& [value, tensor] : before) {
    if (!read.contains(value)) continue;
    inputs_.push_back(value);
    part.inputs.push_back(port_for(value, tensor));
  }
  for (const int32_t value : outputs_) part.outputs.push_back({value, {}});
  if (outputs_.empty()) return;
  flow::remove_unused(part);
  network_.emplace_back(std::move(part));
}

void Part::set_threads(int threads) {
  for (flow::Network& network : network_) network.set_threads(threads);
}

Values Part::run(const Values& before) {
  Values out;
  for (const auto& [value, tensor] : before) {
    if (needed_[static_cast<size_t>(value)]) out.emplace(value, tensor);
  }
  if (network_.empty()) return out;
  std::vector<flow::Tensor> inputs;
  for (const int32_t value : inputs_) inputs.push_back(before.at(value));
  std::vector<flow::Tensor> made = network_.front().run(inputs);
  for (size_t i = 0; i < made.size(); ++i) out.insert_or_assign(outputs_[i], std::move(made[i]));
  return out;
}

}  // namespace hewn::refit
