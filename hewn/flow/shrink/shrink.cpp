#include "hewn/flow/shrink/shrink.h"

#include <algorithm>

#include "hewn/flow/shrink/channels.h"

namespace hewn::flow {
namespace {

using Kept = std::vector<int64_t>;  // numbers of channels, growing

/// The channels of every group that stay.
std::vector<Kept> kept_channels(const Graph& graph, const Channels& channels, int64_t unit) {
  std::vector<std::vector<bool>> needed;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto value = static_cast<int32_t>(i);
    const int32_t group = channels.group(value);
    if (group == kNone) continue;
    if (needed.size() <= static_cast<size_t>(group)) needed.resize(static_cast<size_t>(group) + 1);
    auto& own = needed[static_cast<size_t>(group)];
    own.resize(static_cast<size_t>(channels.count(group)), false);
    for (size_t c = 0; c < own.size(); ++c)
      own[c] = own[c] || !channels.movable(value) || channels.needed(value, static_cast<int64_t>(c));
  }
  std::vector<Kept> out(needed.size());
  for (size_t group = 0; group < needed.size(); ++group) {
    const auto count = static_cast<int64_t>(needed[group].size());
    for (int64_t begin = 0; begin < count; begin += unit) {
      const int64_t end = std::min(begin + unit, count);
      const bool read = std::any_of(needed[group].begin() + begin, needed[group].begin() + end,
                                    [](bool one) { return one; });
      for (int64_t c = begin; read && c < end; ++c) out[group].push_back(c);
    }
    // A layer without outputs is none.
    if (!out[group].empty()) continue;
    for (int64_t c = 0; c < std::min(unit, count); ++c) out[group].push_back(c);
  }
  return out;
}

/// Every channel as `numbers` of them.
Kept spread(const Kept& kept, int64_t numbers) {
  if (numbers == 1) return kept;
  Kept out;
  for (const int64_t c : kept)
    for (int64_t i = 0; i < numbers; ++i) out.push_back(c * numbers + i);
  return out;
}

Kept missing(const Kept& kept, int64_t count) {
  Kept out;
  auto next = kept.begin();
  for (int64_t c = 0; c < count; ++c) {
    if (next != kept.end() && *next == c) {
      ++next;
    } else {
      out.push_back(c);
    }
  }
  return out;
}

/// The same tensor with some of an axis alone.
Tensor cut(const Tensor& tensor, size_t axis, const Kept& kept) {
  Spec spec = tensor.spec();
  int64_t inner = 1;
  int64_t outer = 1;
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    if (d < axis) outer *= spec.dims[d];
    if (d > axis) inner *= spec.dims[d];
  }
  const int64_t before = spec.dims[axis];
  spec.dims[axis] = static_cast<int64_t>(kept.size());
  Tensor out(spec);
  const float* from = tensor.values<float>().data();
  float* to = out.values<float>().data();
  for (int64_t i = 0; i < outer; ++i) {
    for (const int64_t c : kept) to = std::copy_n(from + (i * before + c) * inner, inner, to);
  }
  return out;
}

class Cutter {
 public:
  Cutter(Graph& graph, const Channels& channels, const std::vector<Kept>& kept)
      : graph_(graph), channels_(channels), kept_(kept) {}

  /// Of a product: its rows and columns, with what is constant in its bias.
  void cut_product(Node& node, const Product& product, Shrunk& done) {
    LayerCut lost{node.name.empty() ? graph_.name(node.outputs[0]) : node.name, {}, {}};
    const int32_t in_group = channels_.group(node.inputs[0]);
    const bool linked = in_group != kNone;
    const int64_t numbers = linked ? channels_.numbers(product, node) : 1;
    if (linked) lost.inputs = missing(spread(of(in_group), numbers), product.channels);
    const Kept& outputs = of(channels_.group(node.outputs[0]));
    lost.outputs = missing(outputs, product.outputs);
    if (lost.inputs.empty() && lost.outputs.empty()) return;
    const size_t out_axis = product.kind == WeightKind::kInOut ? 1 : 0;
    Tensor bias = shifted_bias(node, product, lost.inputs, numbers);
    Tensor weight = *product.weight;
    const int64_t before = weight.elements();
    if (!lost.inputs.empty()) weight = cut(weight, 1 - out_axis, spread(of(in_group), numbers));
    if (!lost.outputs.empty()) weight = cut(weight, out_axis, outputs);
    if (bias.elements() > 0) {
      node.inputs.resize(3, kNone);
      replace(node.inputs[2], cut(bias, 0, outputs));
    }
    done.units += static_cast<int64_t>(lost.outputs.size());
    done.weights += before - weight.elements();
    replace(node.inputs[1], std::move(weight));
    done.layers.push_back(std::move(lost));
  }

  /// Of an add: the constant, where there is one.
  void cut_add(Node& node) {
    if (node.op != "Add" || !channels_.movable(node.outputs[0])) return;
    const Kept& kept = of(channels_.group(node.outputs[0]));
    for (int32_t& value : node.inputs) {
      const Tensor* constant = graph_.constant(value);
      if (constant != nullptr && constant->elements() > static_cast<int64_t>(kept.size()))
        replace(value, cut(*constant, 0, kept));
    }
  }

 private:
  const Kept& of(int32_t group) const { return kept_[static_cast<size_t>(group)]; }

  /// With what the inputs that go away were worth; nothing where there is none and none is needed.
  Tensor shifted_bias(const Node& node, const Product& product, const Kept& lost, int64_t numbers) const {
    const bool has = node.inputs.size() > 2 && node.inputs[2] != kNone;
    std::vector<double> sums(static_cast<size_t>(product.outputs), 0);
    if (has) {
      const auto before = graph_.constant(node.inputs[2])->values<float>();
      std::copy(before.begin(), before.end(), sums.begin());
    }
    bool moved = false;
    for (size_t i = 0; i < lost.size(); i += static_cast<size_t>(numbers)) {
      const int64_t channel = lost[i] / numbers;
      const float number = channels_.constant(node.inputs[0], channel).value_or(0);
      if (number == 0 || !Channels::can_fold(product, number)) continue;
      for (int64_t j = 0; j < product.outputs; ++j)
        sums[static_cast<size_t>(j)] += static_cast<double>(number) * product.sum(j, channel, numbers);
      moved = true;
    }
    if (!has && !moved) return Tensor();
    Tensor out(Spec{Type::kFloat, {product.outputs}});
    std::transform(sums.begin(), sums.end(), out.values<float>().begin(),
                   [](double sum) { return static_cast<float>(sum); });
    return out;
  }

  void replace(int32_t& value, Tensor tensor) {
    value = graph_.add_value(value == kNone ? std::string("bias") : graph_.name(value));
    graph_.constants[value] = std::move(tensor);
  }

  Graph& graph_;
  const Channels& channels_;
  const std::vector<Kept>& kept_;
};

}  // namespace

Shrunk shrink(Graph& graph, int64_t unit) {
  Shrunk done;
  if (!graph.bytes.empty() || !graph.weight_bytes.empty() || !graph.weight_halves.empty()) return done;
  const Graph before = graph;  // what was found points into it
  const Channels channels(before);
  const std::vector<Kept> kept = kept_channels(before, channels, std::max<int64_t>(unit, 1));
  Cutter cutter(graph, channels, kept);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Product& product = channels.products()[i];
    if (product.weight != nullptr) {
      cutter.cut_product(graph.nodes[i], product, done);
    } else {
      cutter.cut_add(graph.nodes[i]);
    }
  }
  remove_unused(graph);
  return done;
}

}  // namespace hewn::flow
