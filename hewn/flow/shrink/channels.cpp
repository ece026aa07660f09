#include "hewn/flow/shrink/channels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace hewn::flow {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

bool is_pool(const Node& node) {
  return node.op == "MaxPool" || node.op == "AveragePool" || node.op == "GlobalAveragePool" ||
         node.op == "GlobalMaxPool";
}

bool flattens(const Node& node) { return node.op == "Flatten" && node.integer("axis", 1) == 1; }

/// A bias along the last axis, of so many numbers.
bool is_bias(const Tensor* tensor, int64_t count) {
  return tensor != nullptr && tensor->type() == Type::kFloat && tensor->dims() == Dims{count};
}

}  // namespace

bool keeps_zeros(const Node& node) {
  static const std::set<std::string> kOps = {"Relu", "LeakyRelu", "Gelu", "HardSwish", "Tanh", "Identity"};
  return kOps.contains(node.op) && node.inputs.size() == 1 && node.outputs.size() == 1;
}

const float* Product::window(int64_t output, int64_t channel, int64_t& count, int64_t& stride) const {
  const float* values = weight->values<float>().data();
  if (kind == WeightKind::kInOut) {
    stride = outputs;
    return values + channel * count * outputs + output;
  }
  const int64_t taps = weight->elements() / (outputs * channels);
  stride = 1;
  const float* first = values + (output * channels + channel * count) * taps;
  count *= taps;
  return first;
}

double Product::sum(int64_t output, int64_t channel, int64_t numbers) const {
  int64_t stride = 1;
  const float* values = window(output, channel, numbers, stride);
  double total = 0;
  for (int64_t i = 0; i < numbers; ++i) total += static_cast<double>(values[i * stride]);
  return total;
}

bool Product::reads(int64_t output, int64_t channel, int64_t numbers) const {
  int64_t stride = 1;
  const float* values = window(output, channel, numbers, stride);
  for (int64_t i = 0; i < numbers; ++i)
    if (values[i * stride] != 0) return true;
  return false;
}

Product product_of(const Graph& graph, const Node& node, const std::vector<int32_t>& uses) {
  const WeightOf weight = weight_of(graph, node);
  if (weight.tensor == nullptr || weight.groups != 1 || uses[static_cast<size_t>(node.inputs[1])] != 1)
    return {};
  Product out{nullptr, weight.kind};
  const Dims& dims = weight.tensor->dims();
  const bool turned = weight.kind == WeightKind::kInOut;
  out.channels = dims[turned ? 0 : 1];
  out.outputs = dims[turned ? 1 : 0];
  out.biased = node.op != "MatMul";
  if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
    const Tensor* bias = graph.constant(node.inputs[2]);
    if (!is_bias(bias, out.outputs) || uses[static_cast<size_t>(node.inputs[2])] != 1) return {};
  }
  if (node.op == "Gemm" &&
      (node.number("alpha", 1) != 1 || node.number("beta", 1) != 1 || node.integer("transA", 0) != 0)) {
    return {};
  }
  if (node.op == "Conv") {
    const std::vector<int64_t> pads = node.integers("pads");
    const std::string automatic = node.text("auto_pad", "NOTSET");
    out.padded = (automatic != "NOTSET" && automatic != "VALID") ||
                 std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
  }
  out.weight = weight.tensor;
  return out;
}

Channels::Channels(const Graph& graph)
    : graph_(graph),
      links_(graph.values.size()),
      constants_(graph.values.size()),
      needed_(graph.values.size()) {
  const std::vector<int32_t> uses = count_uses(graph);
  for (const Node& node : graph.nodes) products_.push_back(product_of(graph, node, uses));
  for (size_t i = 0; i < graph.nodes.size(); ++i) link(graph.nodes[i], products_[i]);
  for (const Port& port : graph.outputs) pin(port.value);
  for (size_t value = 0; value < links_.size(); ++value) {
    if (links_[value].group == kNone) continue;
    const int32_t own = group(static_cast<int32_t>(value));
    const auto size = static_cast<size_t>(count(own));
    constants_[value].assign(size, kUnknown);
    needed_[value].assign(size, groups_[static_cast<size_t>(own)].pinned);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) find_constants(graph.nodes[i], products_[i]);
  for (size_t i = graph.nodes.size(); i-- > 0;) find_needed(graph.nodes[i], products_[i]);
}

int32_t Channels::root(int32_t group) const {
  while (groups_[static_cast<size_t>(group)].parent != kNone)
    group = groups_[static_cast<size_t>(group)].parent;
  return group;
}

int32_t Channels::group(int32_t value) const {
  const int32_t own = links_[static_cast<size_t>(value)].group;
  return own == kNone ? kNone : root(own);
}

bool Channels::movable(int32_t value) const {
  if (value == kNone) return false;
  const int32_t own = group(value);
  return own != kNone && !groups_[static_cast<size_t>(own)].pinned;
}

void Channels::pin(int32_t value) {
  if (value == kNone) return;
  if (const int32_t own = group(value); own != kNone) groups_[static_cast<size_t>(own)].pinned = true;
}

int32_t Channels::new_group(int64_t count, int axis) {
  groups_.push_back({kNone, count, false, axis});
  return static_cast<int32_t>(groups_.size()) - 1;
}

int64_t Channels::numbers(const Product& product, const Node& node) const {
  return product.channels / count(group(node.inputs[0]));
}

std::optional<float> Channels::constant(int32_t value, int64_t channel) const {
  const float number = constants_[static_cast<size_t>(value)][static_cast<size_t>(channel)];
  if (std::isnan(number)) return {};
  return number;
}

void Channels::link(const Node& node, const Product& product) {
  if (product.weight != nullptr) return link_product(node, product);
  if (link_along(node) || link_add(node)) return;
  for (const int32_t value : node.inputs) pin(value);
}

void Channels::link_product(const Node& node, const Product& product) {
  const int32_t in = node.inputs[0];
  if (const int32_t own = group(in); own != kNone) {
    const Group& group = groups_[static_cast<size_t>(own)];
    const bool flat = at(in).flat;
    const bool fits = flat ? product.channels % group.count == 0 : product.channels == group.count;
    const bool along =
        node.op == "Conv" ? group.axis == 1 && !flat : node.op == "Gemm" || (!flat && group.axis != 1);
    if (!fits || !along) pin(in);
    // Without its channels known it is read whole.
    if (!fits) at(in) = {};
  }
  const int axis = node.op == "Conv" ? 1 : node.op == "Gemm" ? 0 : -1;
  at(node.outputs[0]).group = new_group(product.outputs, axis);
}

bool Channels::link_along(const Node& node) {
  if (!keeps_zeros(node) && !is_pool(node) && !flattens(node)) return false;
  const int32_t in = node.inputs[0];
  const int32_t own = group(in);
  if (own == kNone) return true;
  const bool images = groups_[static_cast<size_t>(own)].axis == 1 && !at(in).flat;
  if ((is_pool(node) && !images) || node.outputs.size() != 1) return false;
  if (flattens(node) && groups_[static_cast<size_t>(own)].axis == -1) return false;
  at(node.outputs[0]) = at(in);
  if (flattens(node)) at(node.outputs[0]).flat = true;
  return true;
}

bool Channels::link_add(const Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return false;
  for (size_t side = 0; side < 2; ++side) {
    const int32_t own = group(node.inputs[side]);
    const int32_t other = node.inputs[1 - side];
    if (own == kNone || graph_.constant(other) == nullptr) continue;
    const Group& with = groups_[static_cast<size_t>(own)];
    if (with.axis == 1 || at(node.inputs[side]).flat || !is_bias(graph_.constant(other), with.count))
      return false;
    at(node.outputs[0]) = at(node.inputs[side]);
    return true;
  }
  const int32_t a = group(node.inputs[0]);
  const int32_t b = group(node.inputs[1]);
  if (a == kNone || b == kNone || at(node.inputs[0]).flat != at(node.inputs[1]).flat) return false;
  Group& first = groups_[static_cast<size_t>(a)];
  const Group& second = groups_[static_cast<size_t>(b)];
  if (first.count != second.count || first.axis != second.axis) return false;
  if (a != b) {
    first.pinned = first.pinned || second.pinned;
    groups_[static_cast<size_t>(b)].parent = a;
  }
  at(node.outputs[0]) = at(node.inputs[0]);
  return true;
}

void Channels::find_constants(const Node& node, const Product& product) {
  if (node.outputs.empty() || node.outputs[0] == kNone || group(node.outputs[0]) == kNone) return;
  std::vector<float>& out = constants_[static_cast<size_t>(node.outputs[0])];
  const auto in = [&](size_t side, size_t channel) {
    const auto& known = constants_[static_cast<size_t>(node.inputs[side])];
    return known.empty() ? kUnknown : known[channel];
  };
  if (product.weight != nullptr) {
    const Tensor* bias =
        node.inputs.size() > 2 && node.inputs[2] != kNone ? graph_.constant(node.inputs[2]) : nullptr;
    const bool linked = group(node.inputs[0]) != kNone;
    const int64_t side_by_side = linked ? numbers(product, node) : 1;
    for (size_t j = 0; j < out.size(); ++j) {
      double sum = bias == nullptr ? 0 : static_cast<double>(bias->values<float>()[j]);
      for (int64_t c = 0; c * side_by_side < product.channels; ++c) {
        if (!product.reads(static_cast<int64_t>(j), c, side_by_side)) continue;
        const float number = linked ? in(0, static_cast<size_t>(c)) : kUnknown;
        const bool folds = !std::isnan(number) && can_fold(product, number);
        sum += folds ? static_cast<double>(number) * product.sum(static_cast<int64_t>(j), c, side_by_side)
                     : std::numeric_limits<double>::quiet_NaN();
        if (!folds) break;
      }
      out[j] = static_cast<float>(sum);
    }
    return;
  }
  for (size_t c = 0; c < out.size(); ++c) {
    if (node.op == "Add") {
      const auto side = [&](size_t i) {
        const Tensor* constant = graph_.constant(node.inputs[i]);
        return constant == nullptr ? in(i, c) : constant->values<float>()[c];
      };
      out[c] = side(0) + side(1);
    } else if (node.op == "Relu") {
      out[c] = std::isnan(in(0, c)) ? kUnknown : std::max(in(0, c), 0.0F);
    } else if (flattens(node) || node.op == "Identity" || (is_pool(node) && node.op != "AveragePool")) {
      out[c] = in(0, c);
    } else {
      out[c] = in(0, c) == 0 ? 0 : kUnknown;
    }
  }
}

void Channels::find_needed(const Node& node, const Product& product) {
  if (node.outputs.empty() || node.outputs[0] == kNone) return;
  const std::vector<bool>& behind = needed_[static_cast<size_t>(node.outputs[0])];
  for (const int32_t value : node.inputs) {
    if (value == kNone || group(value) == kNone) continue;
    std::vector<bool>& needed = needed_[static_cast<size_t>(value)];
    const int64_t side_by_side = product.weight == nullptr ? 1 : numbers(product, node);
    for (size_t c = 0; c < needed.size(); ++c) {
      if (needed[c]) continue;
      if (product.weight == nullptr) {
        needed[c] = behind.empty() || behind[c];
        continue;
      }
      const std::optional<float> number = constant(value, static_cast<int64_t>(c));
      if (number && can_fold(product, *number)) continue;
      for (size_t j = 0; j < behind.size() && !needed[c]; ++j)
        needed[c] =
            behind[j] && product.reads(static_cast<int64_t>(j), static_cast<int64_t>(c), side_by_side);
    }
  }
}

}  // namespace hewn::flow
